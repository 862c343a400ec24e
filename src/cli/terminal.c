#include "base/num.h"
#include "cli/cli_internal.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_LEAST = 80, WIDTH_MOST = 400 };

static unsigned clip(uint64_t width)
{
    if (width < WIDTH_LEAST)
        return WIDTH_LEAST;
    return width < WIDTH_MOST ? (unsigned)width : WIDTH_MOST;
}

unsigned cli_width(int fd)
{
    struct winsize size;
    uint64_t columns;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return clip(size.ws_col);
    const char *text = secure_getenv("COLUMNS");
    return text && num_u64(slice_of(text), &columns) ? clip(columns) : WIDTH_LEAST;
}

bool cli_can_rewrite(int fd)
{
    const char *term = secure_getenv("TERM");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

bool cli_colour(int fd)
{
    const char *no = secure_getenv("NO_COLOR");
    return cli_can_rewrite(fd) && !(no && *no);
}
