#ifndef CLI_CLI_H
#define CLI_CLI_H

/*
 * The command line: the only part of the program that prints and decides exit codes.
 *
 *   stdout   the result alone (a table, JSON, Markdown, help that was asked for)
 *   stderr   progress, warnings, errors
 *   exit     0 fine · 1 gate failed · 2 usage · 3 bad suite, script or document · 4 target or
 *            system not available · 5 a scenario failed · 6 measured but not valid ·
 *            129/130/143 interrupted
 */

/* Runs one command and returns the exit code of the process. Passwords in argv are overwritten
 * in place before anything else happens, so that they do not stay in the process title. */
int cli_main(int argc, char **argv);

#endif
