import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A JSON value: {@code read} makes one from text, {@code toString} makes text again. The value is a
 * Map, a List, a String, a BigDecimal (which keeps every digit), a Boolean, or null.
 */
record Json(Object value) {
    private static final Json NULL = new Json(null);

    /** Creates an object from names and values, without those that are null. */
    static Json object(Object... namesAndValues) {
        Map<String, Json> fields = new LinkedHashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            if (namesAndValues[at + 1] != null) {
                fields.put((String) namesAndValues[at], of(namesAndValues[at + 1]));
            }
        }
        return new Json(fields);
    }

    /** Converts maps, lists, cells, strings, numbers, booleans and null. */
    static Json of(Object value) {
        if (value instanceof Json json) {
            return json;
        }
        if (value instanceof Map<?, ?> fields) {
            Map<String, Json> converted = new LinkedHashMap<>();
            fields.forEach((name, field) -> converted.put((String) name, of(field)));
            return new Json(converted);
        }
        if (value instanceof Collection<?> items) {
            return new Json(items.stream().map(Json::of).toList());
        }
        if (value instanceof Cell cell) {
            return cell.isNumber() ? of(cell.number()) : of(List.of(cell.row(), cell.column()));
        }
        return new Json(value instanceof Number number ? new BigDecimal(number.toString()) : value);
    }

    /** The field of an object; a JSON null where there is none. */
    Json get(String name) {
        return value instanceof Map<?, ?> fields && fields.get(name) instanceof Json field
                ? field : NULL;
    }

    /** The element of an array. */
    Json get(int index) {
        return list().get(index);
    }

    boolean isNull() {
        return value == null;
    }

    String text() {
        return (String) value;
    }

    BigDecimal number() {
        return (BigDecimal) value;
    }

    int integer() {
        return number().intValueExact();
    }

    /** The whole number of this field, or the usual one where there is none. */
    int integer(String name, int usual) {
        return get(name).isNull() ? usual : get(name).integer();
    }

    /** The text of this field, or the usual one where there is none. */
    String text(String name, String usual) {
        return get(name).isNull() ? usual : get(name).text();
    }

    /** The elements of this field; none where there is no field. */
    List<Json> items(String name) {
        return get(name).isNull() ? List.of() : get(name).list();
    }

    @SuppressWarnings("unchecked")
    List<Json> list() {
        return (List<Json>) value;
    }

    @SuppressWarnings("unchecked")
    Map<String, Json> fields() {
        return (Map<String, Json>) value;
    }

    /** Reads a text that is one JSON value. */
    static Json read(String text) {
        Reader reader = new Reader(text);
        Json value = reader.value();
        if (reader.peek() != Reader.END) {
            throw reader.unexpected();
        }
        return value;
    }

    @Override
    public String toString() {
        StringBuilder out = new StringBuilder();
        write(out);
        return out.toString();
    }

    private void write(StringBuilder out) {
        if (value instanceof Map<?, ?>) {
            String separator = "{";
            for (Map.Entry<String, Json> field : fields().entrySet()) {
                quote(out.append(separator), field.getKey());
                field.getValue().write(out.append(':'));
                separator = ",";
            }
            out.append(fields().isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?>) {
            String separator = "[";
            for (Json element : list()) {
                element.write(out.append(separator));
                separator = ",";
            }
            out.append(list().isEmpty() ? "[]" : "]");
        } else if (value instanceof String text) {
            quote(out, text);
        } else {
            out.append(value);
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private static final class Reader {
        static final char END = '\0';
        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        /** The next character that is no space, which is left where it is. */
        char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            return at < text.length() ? text.charAt(at) : END;
        }

        Json value() {
            return switch (peek()) {
                case '{' -> new Json(object());
                case '[' -> new Json(array());
                case '"' -> new Json(string());
                case 't' -> word("true", true);
                case 'f' -> word("false", false);
                case 'n' -> word("null", null);
                default -> new Json(number());
            };
        }

        private Map<String, Json> object() {
            Map<String, Json> fields = new LinkedHashMap<>();
            at++;
            while (peek() != '}') {
                if (!fields.isEmpty()) {
                    take(',');
                }
                String name = string();
                take(':');
                fields.put(name, value());
            }
            at++;
            return fields;
        }

        private List<Json> array() {
            List<Json> elements = new ArrayList<>();
            at++;
            while (peek() != ']') {
                if (!elements.isEmpty()) {
                    take(',');
                }
                elements.add(value());
            }
            at++;
            return elements;
        }

        private String string() {
            take('"');
            StringBuilder out = new StringBuilder();
            for (; at < text.length() && text.charAt(at) != '"'; at++) {
                char c = text.charAt(at);
                out.append(c == '\\' ? escaped() : c);
            }
            take('"');
            return out.toString();
        }

        /** What follows a backslash; {@code at} ends up on its last character. */
        private char escaped() {
            char c = text.charAt(++at);
            if (c == 'u') {
                at += 4;
                return (char) Integer.parseInt(text, at - 3, at + 1, 16);
            }
            int known = "bfnrt".indexOf(c);
            return known < 0 ? c : "\b\f\n\r\t".charAt(known);
        }

        private BigDecimal number() {
            int from = at;
            while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            if (from == at) {
                throw unexpected();
            }
            return new BigDecimal(text.substring(from, at));
        }

        private Json word(String word, Boolean value) {
            if (!text.startsWith(word, at)) {
                throw unexpected();
            }
            at += word.length();
            return new Json(value);
        }

        private void take(char wanted) {
            if (peek() != wanted) {
                throw unexpected();
            }
            at++;
        }

        IllegalArgumentException unexpected() {
            return new IllegalArgumentException("no JSON at character " + at);
        }
    }
}
