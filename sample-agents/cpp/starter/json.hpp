// JSON values: `json::read` makes one from text, `<<` makes text again.
//
// Numbers and texts convert to values; json::array and json::object make the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace json {

enum class Kind { null, boolean, number, string, array, object };

struct Value {
    Kind kind = Kind::null;
    std::string text;               // a string; a number or boolean as it was written
    std::vector<Value> items;       // of an array or object
    std::vector<std::string> keys;  // of an object: items[i] is called keys[i]

    Value() = default;
    explicit Value(Kind kind, std::string text = "") : kind(kind), text(std::move(text)) {}
    Value(const char *text) : kind(Kind::string), text(text) {}
    Value(std::string text) : kind(Kind::string), text(std::move(text)) {}
    Value(int number) : kind(Kind::number), text(std::to_string(number)) {}
    // JSON has no infinity: it becomes a string.
    Value(double number) : kind(std::isfinite(number) ? Kind::number : Kind::string) {
        std::ostringstream out;
        out << std::setprecision(17) << number;
        text = out.str();
    }

    bool is_null() const { return kind == Kind::null; }
    double number() const { return std::strtod(text.c_str(), nullptr); }
    int integer() const { return static_cast<int>(number()); }

    // A field, or the usual value where there is none.
    int integer(std::string_view key, int usual) const {
        return (*this)[key].is_null() ? usual : (*this)[key].integer();
    }
    std::string string(std::string_view key, std::string usual) const {
        return (*this)[key].is_null() ? usual : (*this)[key].text;
    }

    // Adds a field to an object.
    void add(std::string key, Value value) {
        keys.push_back(std::move(key));
        items.push_back(std::move(value));
    }

    const Value &operator[](std::size_t index) const { return items.at(index); }

    // The field of an object; null where there is none.
    const Value &operator[](std::string_view key) const {
        static const Value none;
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (keys[i] == key) return items[i];
        return none;
    }
};

// An array of what converts to a Value.
template <class Items> Value array(const Items &items) {
    Value value(Kind::array);
    for (const auto &item : items) value.items.push_back(item);
    return value;
}

inline Value object(std::initializer_list<std::pair<std::string, Value>> fields) {
    Value value(Kind::object);
    for (const auto &[key, field] : fields) value.add(key, field);
    return value;
}

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    Value whole() {
        Value value = read(0);
        if (peek() != '\0') fail();
        return value;
    }

private:
    static constexpr int depth_max = 500;
    std::string_view text_;
    std::size_t at_ = 0;

    [[noreturn]] void fail() const {
        throw std::runtime_error("no JSON at byte " + std::to_string(at_));
    }

    char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    // The next character that is no space, which is left where it is.
    char peek() {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        return here();
    }

    void take(char wanted) {
        if (peek() != wanted) fail();
        ++at_;
    }

    Value read(int depth) {
        if (depth > depth_max) fail();
        switch (peek()) {
        case '{': return children(Kind::object, '}', depth);
        case '[': return children(Kind::array, ']', depth);
        case '"': return string();
        case 't': return word(Kind::boolean, "true");
        case 'f': return word(Kind::boolean, "false");
        case 'n': return word(Kind::null, "null");
        default: return number();
        }
    }

    Value children(Kind kind, char closing, int depth) {
        Value value(kind);
        ++at_;
        while (peek() != closing) {
            if (!value.items.empty()) take(',');
            if (kind == Kind::object) {
                value.keys.push_back(string());
                take(':');
            }
            value.items.push_back(read(depth + 1));
        }
        ++at_;
        return value;
    }

    Value word(Kind kind, std::string_view word) {
        if (text_.substr(at_, word.size()) != word) fail();
        at_ += word.size();
        return Value(kind, std::string(word));
    }

    Value number() {
        std::size_t end = text_.find_first_not_of("+-.eE0123456789", at_);
        std::string_view digits = text_.substr(at_, end - at_);
        if (digits.empty()) fail();
        at_ += digits.size();
        return Value(Kind::number, std::string(digits));
    }

    std::string string() {
        take('"');
        std::string out;
        while (here() != '"') {
            if (at_ >= text_.size()) fail();
            char c = text_[at_++];
            if (c == '\\') escaped(out);
            else out += c;
        }
        ++at_;
        return out;
    }

    // What follows a backslash.
    void escaped(std::string &out) {
        static constexpr std::string_view letters = "bfnrt", meanings = "\b\f\n\r\t";
        char c = here();
        ++at_;
        if (c == 'u') return utf8(out, character());
        std::size_t known = letters.find(c);
        out += known == letters.npos ? c : meanings[known];
    }

    // What UTF-16 needs two units for comes as two escapes.
    unsigned long character() {
        unsigned long high = unit();
        if (high < 0xD800 || high > 0xDFFF) return high;
        if (high > 0xDBFF || text_.substr(at_, 2) != "\\u") return 0xFFFD;
        at_ += 2;
        unsigned long low = unit();
        if (low < 0xDC00 || low > 0xDFFF) return 0xFFFD;
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }

    unsigned long unit() {
        std::string digits(text_.substr(std::min(at_, text_.size()), 4));
        if (digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos
            || digits.size() < 4) fail();
        at_ += 4;
        return std::stoul(digits, nullptr, 16);
    }

    static void utf8(std::string &out, unsigned long code) {
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static constexpr unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
        out += static_cast<char>(first[more] | code >> 6 * more);
        while (more-- > 0) out += static_cast<char>(0x80 | (code >> 6 * more & 0x3F));
    }
};

// Reads a text that is one value.
inline Value read(std::string_view text) { return Reader(text).whole(); }

inline void quote(std::ostream &out, std::string_view text) {
    static constexpr std::string_view hex = "0123456789abcdef";
    out << '"';
    for (unsigned char c : text) {
        if (c < 0x20) out << "\\u00" << hex[c >> 4] << hex[c & 15];
        else if (c == '"' || c == '\\') out << '\\' << c;
        else out << c;
    }
    out << '"';
}

inline std::ostream &operator<<(std::ostream &out, const Value &value) {
    switch (value.kind) {
    case Kind::null: return out << "null";
    case Kind::boolean:
    case Kind::number: return out << value.text;
    case Kind::string: quote(out, value.text); return out;
    case Kind::array:
    case Kind::object: break;
    }
    bool object = value.kind == Kind::object;
    out << (object ? '{' : '[');
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out << ',';
        if (object) {
            quote(out, value.keys[i]);
            out << ':';
        }
        out << value.items[i];
    }
    return out << (object ? '}' : ']');
}

}  // namespace json
