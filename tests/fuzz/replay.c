/* Runs LLVMFuzzerTestOneInput on every file of the given files and folders, so that a corpus is
 * a test in every build, without libFuzzer. */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* The input lies in memory of exactly its size, so that a read past it is seen. */
static unsigned replay_file(const char *path, long size)
{
    FILE *file = fopen(path, "rbe");
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
    if (!file || !bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    return 1;
}

static unsigned replay(const char *path)
{
    struct stat info;
    struct dirent **entries = NULL;
    unsigned done = 0;
    if (stat(path, &info) != 0) {
        fprintf(stderr, "replay: no %s\n", path);
        exit(2);
    }
    if (!S_ISDIR(info.st_mode))
        return replay_file(path, (long)info.st_size);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char child[4096];
        int length = snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof(child))
            done += replay(child);
        free(entries[i]);
    }
    free(entries);
    return done;
}

int main(int argc, char **argv)
{
    unsigned done = 0;
    for (int i = 1; i < argc; i++)
        done += replay(argv[i]);
    printf("%u inputs replayed\n", done);
    return done > 0 ? 0 : 1;
}
