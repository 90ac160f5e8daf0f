/* Speak bbfalsify's line protocol in a C or C++ program on a POSIX system; this file alone is enough.

   Include it before all other headers, describe the system, and serve it (tank.c beside this file is an example):

       static const char *reset(unsigned long long seed, double *outputs);
       static const char *step(const double *inputs, double duration, double *outputs);

       int main(void) {
           static const bbf_port inputs[] = {{"inflow", "m3/s"}}, outputs[] = {{"level", "m3"}};
           bbf_system tank = {"tank", inputs, 1, outputs, 1, reset, step, 0};
           return bbf_serve(&tank);
       }

   `reset` goes back to the start, and sets the outputs at time 0.  `step` holds the inputs for the duration, and sets the
   outputs at its end.  Both return NULL, or a message: that ends the simulation, not the program.  Whole simulations are
   made of them here, so that bbfalsify sends one message per simulation.

   What the program prints goes to standard error; standard output belongs to the protocol.  Numbers are written and read
   in the C locale: a program that calls setlocale() keeps LC_NUMERIC as it is. */

#ifndef BBFALSIFY_H
#define BBFALSIFY_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *name;
    const char *unit; /* NULL: unknown */
} bbf_port;

typedef struct {
    const char *name;
    const bbf_port *inputs;
    int input_count;
    const bbf_port *outputs;
    int output_count;
    const char *(*reset)(unsigned long long seed, double *outputs);
    const char *(*step)(const double *inputs, double duration, double *outputs);
    int seedable; /* 1: the seed decides everything that is random */
} bbf_system;

/* --- text that grows -------------------------------------------------------------------------------------------- */

typedef struct {
    char *text;
    size_t length, room;
} bbf__buffer;

static void *bbf__grown(void *old, size_t size) {
    void *memory = realloc(old, size ? size : 1);
    if (memory == NULL) {
        fputs("bbfalsify.h: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void bbf__put(bbf__buffer *to, const char *format, ...) {
    va_list values;
    int needed;
    va_start(values, format);
    needed = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (needed < 0) return;
    if (to->length + (size_t)needed + 1 > to->room) {
        to->room = 2 * (to->length + (size_t)needed + 1);
        to->text = (char *)bbf__grown(to->text, to->room);
    }
    va_start(values, format);
    vsnprintf(to->text + to->length, (size_t)needed + 1, format, values);
    va_end(values);
    to->length += (size_t)needed;
}

static void bbf__put_text(bbf__buffer *to, const char *text) {
    bbf__put(to, "\"");
    for (; *text; ++text) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') bbf__put(to, "\\%c", c);
        else if (c < 0x20) bbf__put(to, "\\u%04x", c);
        else bbf__put(to, "%c", c);
    }
    bbf__put(to, "\"");
}

/* --- JSON: find members, read numbers ----------------------------------------------------------------------------- */

static const char *bbf__space(const char *p) {
    return p + strspn(p, " \t\r\n");
}

/* The place behind the value at p; NULL if it does not end. */
static const char *bbf__after(const char *p) {
    int depth = 0;
    do {
        p = bbf__space(p);
        if (*p == '\0') return NULL;
        if (*p == '"') {
            for (++p; *p && *p != '"'; ++p)
                if (*p == '\\' && p[1]) ++p;
            if (*p == '\0') return NULL;
            ++p;
        } else if (strchr("{[", *p)) {
            ++depth, ++p;
        } else if (strchr("}]", *p)) {
            --depth, ++p;
        } else if (strchr(",:", *p)) {
            ++p;
        } else {
            p += strcspn(p, ",:{}[]\" \t\r\n");
        }
    } while (depth > 0);
    return p;
}

static unsigned long bbf__hex(const char *p) {
    char digits[5] = {0};
    strncpy(digits, p, 4);
    return strtoul(digits, NULL, 16);
}

/* Read one character of a JSON text as UTF-8 into `bytes`, and return the place behind it. */
static const char *bbf__character(const char *p, char *bytes) {
    static const char codes[] = "nrtbf", meant[] = "\n\r\t\b\f";
    unsigned long code;
    memset(bytes, 0, 5);
    if (*p != '\\') {
        bytes[0] = *p;
        return p + 1;
    }
    if (p[1] != 'u') {
        const char *found = p[1] ? strchr(codes, p[1]) : NULL;
        bytes[0] = found ? meant[found - codes] : p[1];
        return p + (p[1] ? 2 : 1);
    }
    code = bbf__hex(p + 2);
    p += 2 + strnlen(p + 2, 4);
    if (code >= 0xD800 && code < 0xDC00 && p[0] == '\\' && p[1] == 'u') {
        code = 0x10000 + ((code - 0xD800) << 10) + (bbf__hex(p + 2) - 0xDC00);
        p += 2 + strnlen(p + 2, 4);
    }
    if (code < 0x80) {
        bytes[0] = (char)code;
    } else if (code < 0x800) {
        bytes[0] = (char)(0xC0 | (code >> 6));
        bytes[1] = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xE0 | (code >> 12));
        bytes[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        bytes[2] = (char)(0x80 | (code & 0x3F));
    } else {
        bytes[0] = (char)(0xF0 | (code >> 18));
        bytes[1] = (char)(0x80 | ((code >> 12) & 0x3F));
        bytes[2] = (char)(0x80 | ((code >> 6) & 0x3F));
        bytes[3] = (char)(0x80 | (code & 0x3F));
    }
    return p;
}

static int bbf__same(const char *json, const char *text) {
    char bytes[5];
    if (json == NULL || *json != '"') return 0;
    for (++json; *json && *json != '"';) {
        size_t length;
        json = bbf__character(json, bytes);
        length = strlen(bytes);
        if (length == 0 || strncmp(bytes, text, length) != 0) return 0;
        text += length;
    }
    return *json == '"' && *text == '\0';
}

/* The value of a member; NULL if the object has none. */
static const char *bbf__member(const char *object, const char *name) {
    const char *p;
    if (object == NULL || *(p = bbf__space(object)) != '{') return NULL;
    for (p = bbf__space(p + 1); *p == '"'; p = bbf__space(p)) {
        int found = bbf__same(p, name);
        if ((p = bbf__after(p)) == NULL || *(p = bbf__space(p)) != ':') return NULL;
        p = bbf__space(p + 1);
        if (found) return p;
        if ((p = bbf__after(p)) == NULL) return NULL;
        p = bbf__space(p);
        if (*p == ',') p = bbf__space(p + 1);
    }
    return NULL;
}

static int bbf__number(const char *p, double *into) {
    char *end;
    if (p == NULL) return 0;
    *into = strtod(p, &end);
    return end != p;
}

/* Read a list of numbers; return how many, or -1. */
static long bbf__numbers(const char *p, double **into) {
    size_t count = 0, room = 0;
    if (p == NULL || *p != '[') return -1;
    for (p = bbf__space(p + 1); *p != ']'; ++count) {
        if (count == room) *into = (double *)bbf__grown(*into, (room = 2 * room + 64) * sizeof **into);
        if (!bbf__number(p, *into + count)) return -1;
        p = bbf__after(p);
        if (p == NULL) return -1;
        p = bbf__space(p);
        if (*p == ',') p = bbf__space(p + 1);
        else if (*p != ']') return -1;
    }
    return (long)count;
}

/* --- requests ------------------------------------------------------------------------------------------------------ */

static const char *bbf__reset(const bbf_system *system, const char *request, double *outputs) {
    const char *seed = bbf__member(request, "seed");
    return system->reset(seed ? strtoull(seed, NULL, 10) : 0, outputs);
}

static int bbf__finite(const bbf_system *system, const double *rows, long count, char *why, size_t room) {
    for (long k = 0; k < count * system->output_count; ++k)
        if (!isfinite(rows[k])) {
            snprintf(why, room, "output '%s' is not finite", system->outputs[k % system->output_count].name);
            return 0;
        }
    return 1;
}

static const char *bbf__step(const bbf_system *system, const char *request, double *row) {
    const char *given = bbf__member(request, "inputs"), *problem;
    double duration, *values = (double *)bbf__grown(NULL, (size_t)system->input_count * sizeof *values);
    int known = bbf__number(bbf__member(request, "duration"), &duration);
    for (int i = 0; i < system->input_count; ++i)
        known = known && bbf__number(bbf__member(given, system->inputs[i].name), values + i);
    problem = known ? system->step(values, duration, row) : "the request lacks an input or the duration";
    free(values);
    return problem;
}

/* Make a whole simulation: one row of outputs per time. */
static const char *bbf__run(const bbf_system *system, const char *request, double **rows, long *count) {
    const char *given = bbf__member(request, "inputs"), *problem = NULL;
    int n = system->input_count, width = system->output_count;
    double *times = NULL, *held = (double *)bbf__grown(NULL, (size_t)n * sizeof *held);
    double **signals = (double **)bbf__grown(NULL, (size_t)n * sizeof *signals);
    *count = bbf__numbers(bbf__member(request, "times"), &times);
    for (int i = 0; i < n; ++i) {
        signals[i] = NULL;
        if (bbf__numbers(bbf__member(given, system->inputs[i].name), &signals[i]) != *count)
            problem = "the request lacks an input, or has too few values";
    }
    if (*count < 1) problem = "the request has no times";
    if (problem == NULL) {
        *rows = (double *)bbf__grown(*rows, (size_t)(*count * width) * sizeof **rows);
        problem = bbf__reset(system, request, *rows);
    }
    for (long k = 1; problem == NULL && k < *count; ++k) {
        for (int i = 0; i < n; ++i) held[i] = signals[i][k - 1];
        problem = system->step(held, times[k] - times[k - 1], *rows + k * width);
    }
    for (int i = 0; i < n; ++i) free(signals[i]);
    free(signals);
    free(held);
    free(times);
    return problem;
}

static void bbf__put_outputs(bbf__buffer *to, const bbf_system *system, const double *rows, long count, int listed) {
    bbf__put(to, ",\"outputs\":{");
    for (int i = 0; i < system->output_count; ++i) {
        if (i) bbf__put(to, ",");
        bbf__put_text(to, system->outputs[i].name);
        bbf__put(to, listed ? ":[" : ":");
        for (long k = 0; k < count; ++k) bbf__put(to, k ? ",%.17g" : "%.17g", rows[k * system->output_count + i]);
        if (listed) bbf__put(to, "]");
    }
    bbf__put(to, "}");
}

static void bbf__answer(bbf__buffer *to, const bbf_system *system, const char *request, double **rows) {
    const char *kind = bbf__member(request, "request"), *problem = NULL;
    int whole = bbf__same(kind, "run");
    char why[200];
    long count = 1;
    if (whole) problem = bbf__run(system, request, rows, &count);
    else if (bbf__same(kind, "reset")) problem = bbf__reset(system, request, *rows);
    else if (bbf__same(kind, "step")) problem = bbf__step(system, request, *rows);
    else if (bbf__same(kind, "close")) return;
    else problem = "this program does not know the request";
    if (problem == NULL && !bbf__finite(system, *rows, count, why, sizeof why)) problem = why;
    if (problem == NULL) {
        bbf__put_outputs(to, system, *rows, count, whole);
    } else {
        bbf__put(to, ",\"error\":");
        bbf__put_text(to, problem);
    }
}

static void bbf__put_ports(bbf__buffer *to, const char *side, const bbf_port *ports, int count) {
    bbf__put(to, ",\"%s\":{", side);
    for (int i = 0; i < count; ++i) {
        if (i) bbf__put(to, ",");
        bbf__put_text(to, ports[i].name);
        bbf__put(to, ":");
        if (ports[i].unit) bbf__put_text(to, ports[i].unit);
        else bbf__put(to, "null");
    }
    bbf__put(to, "}");
}

/* Say hello and answer requests until told to close, or until the input ends; return the program's exit code. */
static int bbf_serve(const bbf_system *system) {
    FILE *answers = fdopen(dup(1), "w");
    bbf__buffer out = {NULL, 0, 0};
    double *rows = (double *)bbf__grown(NULL, (size_t)system->output_count * sizeof *rows);
    char *line = NULL;
    size_t size = 0;
    int closed = 0, failed = 0;
    if (answers == NULL || dup2(2, 1) < 0) return 1;
    bbf__put(&out, "{\"bbfalsify\":1,\"name\":");
    bbf__put_text(&out, system->name);
    bbf__put_ports(&out, "inputs", system->inputs, system->input_count);
    bbf__put_ports(&out, "outputs", system->outputs, system->output_count);
    bbf__put(&out, ",\"capabilities\":{\"run\":true,\"stepwise\":true,\"seedable\":%s}}\n", system->seedable ? "true" : "false");
    for (;;) {
        const char *number, *end;
        failed = fwrite(out.text, 1, out.length, answers) != out.length || fflush(answers) != 0;
        out.length = 0;
        if (failed || closed || getline(&line, &size, stdin) < 0) break;
        number = bbf__member(line, "id");
        end = number ? bbf__after(number) : NULL;
        if (end == NULL) {
            fputs("bbfalsify.h: a request without a number\n", stderr);
            failed = 1;
            break;
        }
        bbf__put(&out, "{\"id\":%.*s", (int)(end - number), number);
        closed = bbf__same(bbf__member(line, "request"), "close");
        bbf__answer(&out, system, line, &rows);
        bbf__put(&out, "}\n");
    }
    free(line);
    free(rows);
    free(out.text);
    fclose(answers);
    return failed;
}

#endif
