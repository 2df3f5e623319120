/// A suggestion of the nearest known name for a misspelt one.
public enum Suggestion {
    /// The maximum length in bytes. A longer name gets no suggestion.
    private static let maximumLength = 64

    /// Returns the name with the smallest edit distance, ignoring case.
    ///
    /// - Returns: Nil if every name differs in more than a third of its bytes.
    public static func nearest(to misspelt: String, among names: some Sequence<String>) -> String? {
        guard (1...maximumLength).contains(misspelt.utf8.count) else { return nil }
        let wanted = lowercase(misspelt)
        let candidates = names.filter { $0.utf8.count <= maximumLength }.map { name in
            (name: name, distance: distance(wanted, lowercase(name)))
        }
        guard let nearest = candidates.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }),
            nearest.distance <= max(1, max(wanted.count, nearest.name.utf8.count) / 3)
        else { return nil }
        return nearest.name
    }

    /// Returns a sentence with the suggestion after a space, or an empty string.
    public static func sentence(for misspelt: String, among names: some Sequence<String>) -> String {
        nearest(to: misspelt, among: names).map { " Did you mean \"\($0)\"?" } ?? ""
    }

    private static func lowercase(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// The number of bytes to insert, delete, replace, or swap with a neighbour (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, byte) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (byte == other ? 0 : 1))
                if i > 0, j > 0, byte == right[j - 1], left[i - 1] == other {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
