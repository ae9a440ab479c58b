import java.util.List;

/**
 * An action; what its type doesn't have is null. {@code to} is also the cell of "place", and a path
 * has its ends as {@code from} and {@code to} too.
 */
record Action(String type, Cell from, Cell to, List<Cell> path, List<String> directions) {
    /** Such as "pass". */
    Action(String type) {
        this(type, null, null, null, null);
    }

    Action(String type, Cell from, Cell to) {
        this(type, from, to, null, null);
    }

    static Action move(List<Cell> path) {
        return new Action("move", path.get(0), path.get(path.size() - 1), path, null);
    }

    /** Reads an action of a message. */
    static Action of(Json json) {
        if (!json.get("path").isNull()) {
            return move(Cell.listOf(json.get("path")));
        }
        Json from = json.get("from");
        Json to = json.get(json.get("at").isNull() ? "to" : "at");
        Json names = json.get("directions");
        return new Action(json.get("type").text(), from.isNull() ? null : Cell.of(from),
                to.isNull() ? null : Cell.of(to), null,
                names.isNull() ? null : names.list().stream().map(Json::text).toList());
    }

    /** The action as in a message. */
    Json json() {
        if (path != null) {
            return Json.object("type", type, "path", path);
        }
        return Json.object("type", type, "from", from, type.equals("place") ? "at" : "to", to,
                "directions", directions);
    }

    @Override
    public String toString() {
        return json().toString();
    }
}
