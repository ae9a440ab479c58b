/* Reads JSON: one line of text becomes a tree of values.
 *
 * The tree points into the text, so keep the text as long as the tree. Each value knows how it was
 * written there (`raw`), so that what is only passed on stays exactly the same. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define JSON_DEPTH_MAX 500

typedef enum {
    JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT
} JsonKind;

typedef struct Json {
    JsonKind kind;
    const char *raw;       /* where it begins in the text .. */
    int raw_length;        /* .. and its length there, for "%.*s" */
    double number;         /* of a number */
    char *text;            /* of a string: UTF-8, escapes undone */
    char *key;             /* its own name, if it is in an object */
    size_t count;          /* of an array or object: how many it has, */
    struct Json *children; /* the first of them, */
    struct Json *next;     /* and the one after this */
} Json;

static inline Json *json_value(const char **at, int depth);

static inline void json_free(Json *value)
{
    while (value) {
        Json *next = value->next;
        json_free(value->children);
        free(value->text);
        free(value->key);
        free(value);
        value = next;
    }
}

static inline void json_space(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

/* Reads `text`, which is one value; NULL if it isn't. */
static inline Json *json_read(const char *text)
{
    Json *value = json_value(&text, 0);
    json_space(&text);
    if (*text == '\0')
        return value;
    json_free(value);
    return NULL;
}

/* The field of an object, or NULL. */
static inline const Json *json_get(const Json *object, const char *key)
{
    const Json *child = object && object->kind == JSON_OBJECT ? object->children : NULL;
    while (child && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

/* The element of an array, or NULL. */
static inline const Json *json_at(const Json *array, size_t index)
{
    const Json *child = array && array->kind == JSON_ARRAY ? array->children : NULL;
    while (child && index-- > 0)
        child = child->next;
    return child;
}

/* Whether it is this string. */
static inline bool json_is(const Json *value, const char *text)
{
    return value && value->kind == JSON_STRING && strcmp(value->text, text) == 0;
}

/* The number of \uXXXX, from its first digit on; more than 0xFFFF if these aren't four digits. */
static inline unsigned long json_unit(const char *digits)
{
    char copy[5] = "";
    memcpy(copy, digits, strnlen(digits, 4));
    return strspn(copy, "0123456789abcdefABCDEF") == 4 ? strtoul(copy, NULL, 16) : 0x10000;
}

/* Writes a character as UTF-8. */
static inline char *json_utf8(char *to, unsigned long code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(first[more] | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

/* Reads a string, from its opening quote on; NULL if it is none. */
static inline char *json_string(const char **at)
{
    const char *from = *at + 1;
    const char *end = from;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    char *text = **at == '"' && *end ? malloc((size_t)(end - from) + 1) : NULL;
    if (!text)
        return NULL;
    *at = end + 1;
    char *to = text;
    while (from < end) {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
        const char *letter = strchr(letters, from[1]);
        if (from[1] != 'u') {
            *to++ = letter ? meanings[letter - letters] : from[1];
            from += 2;
            continue;
        }
        unsigned long code = json_unit(from + 2);
        if (code > 0xFFFF) {
            free(text);
            return NULL;
        }
        from += 6;
        /* What UTF-16 needs two units for comes as two escapes. */
        unsigned long low = from[0] == '\\' && from[1] == 'u' ? json_unit(from + 2) : 0;
        if (code >= 0xD800 && code < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            from += 6;
        }
        to = json_utf8(to, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
    }
    *to = '\0';
    return text;
}

/* Reads what an array or object has, from its opening bracket on to the closing one. */
static inline bool json_children(Json *parent, const char **at, char closing, int depth)
{
    Json **slot = &parent->children;
    ++*at;
    json_space(at);
    while (**at != closing) {
        char *key = NULL;
        if (parent->count > 0 && *(*at)++ != ',')
            return false;
        if (parent->kind == JSON_OBJECT) {
            json_space(at);
            key = json_string(at);
            json_space(at);
            if (!key || *(*at)++ != ':') {
                free(key);
                return false;
            }
        }
        Json *child = json_value(at, depth + 1);
        if (!child) {
            free(key);
            return false;
        }
        child->key = key;
        *slot = child;
        slot = &child->next;
        parent->count++;
        json_space(at);
    }
    ++*at;
    return true;
}

static inline bool json_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    bool here = strncmp(*at, word, length) == 0;
    *at += here ? length : 0;
    return here;
}

static inline bool json_number(Json *value, const char **at)
{
    size_t length = strspn(*at, "+-.eE0123456789");
    value->number = strtod(*at, NULL);
    *at += length;
    return length > 0;
}

static inline Json *json_value(const char **at, int depth)
{
    Json *value = depth < JSON_DEPTH_MAX ? calloc(1, sizeof *value) : NULL;
    if (!value)
        return NULL;
    bool whole;
    json_space(at);
    value->raw = *at;
    switch (**at) {
    case '{': value->kind = JSON_OBJECT; whole = json_children(value, at, '}', depth); break;
    case '[': value->kind = JSON_ARRAY; whole = json_children(value, at, ']', depth); break;
    case '"': value->kind = JSON_STRING; whole = (value->text = json_string(at)) != NULL; break;
    case 't': value->kind = JSON_TRUE; whole = json_word(at, "true"); break;
    case 'f': value->kind = JSON_FALSE; whole = json_word(at, "false"); break;
    case 'n': value->kind = JSON_NULL; whole = json_word(at, "null"); break;
    default: value->kind = JSON_NUMBER; whole = json_number(value, at);
    }
    value->raw_length = (int)(*at - value->raw);
    if (whole)
        return value;
    json_free(value);
    return NULL;
}

#endif
