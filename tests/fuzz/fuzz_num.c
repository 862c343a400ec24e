/* Number parsing takes the whole text or nothing, and what it takes survives printing.
 * links: base */

#include "base/num.h"
#include "base/value.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct slice text = {(const char *)bytes, count};
    int64_t number, again;
    uint64_t size;
    double real;
    char buffer[20];
    if (num_i64(text, &number)) {
        uint32_t printed = num_print_i64(buffer, number);
        if (!num_i64((struct slice){buffer, printed}, &again) || again != number)
            abort();
        if (!num_real(text, &real) && count <= 20)
            abort();
    }
    (void)!num_u64(text, &size);
    (void)!num_duration(text, &size);
    char shown[300];
    struct value value = value_text(text.at, (uint32_t)count);
    (void)value_print(shown, sizeof(shown), &value);
    (void)value_hash(0, &value);
    return 0;
}
