/// The difference of two texts by lines.
struct LineDiff: Sendable {
    enum Kind: Sendable {
        case same
        case added
        case removed
        /// Unchanged lines that are left out.
        case gap
    }

    struct Line: Hashable, Sendable {
        let kind: Kind
        let text: String
    }

    /// The unchanged lines around a change.
    private static let context = 3
    /// The maximum size of the table of common lines. Larger texts differ as a whole.
    private static let maximumCells = 250_000

    /// All lines, in order.
    let all: [Line]

    init(_ before: [String], _ after: [String]) {
        let start = zip(before, after).prefix { $0.0.utf8.elementsEqual($0.1.utf8) }.count
        let rest = min(before.count, after.count) - start
        let end = zip(before.reversed(), after.reversed()).prefix(rest)
            .prefix { $0.0.utf8.elementsEqual($0.1.utf8) }.count
        all =
            before[..<start].map { Line(kind: .same, text: $0) }
            + Self.lines(
                Array(before[start..<before.count - end]).map { Array($0.utf8) },
                Array(after[start..<after.count - end]).map { Array($0.utf8) })
            + before[(before.count - end)...].map { Line(kind: .same, text: $0) }
    }

    var added: Int { all.count { $0.kind == .added } }
    var removed: Int { all.count { $0.kind == .removed } }

    /// The changed lines with a few unchanged ones around them.
    var hunks: [Line] {
        var isShown = [Bool](repeating: false, count: all.count)
        for index in all.indices where all[index].kind != .same {
            for near in max(0, index - Self.context)...min(all.count - 1, index + Self.context) { isShown[near] = true }
        }
        var shown: [Line] = []
        var last = -1
        for index in all.indices where isShown[index] {
            if index > last + 1 { shown.append(Line(kind: .gap, text: "")) }
            shown.append(all[index])
            last = index
        }
        if !shown.isEmpty, last < all.count - 1 { shown.append(Line(kind: .gap, text: "")) }
        return shown
    }

    /// The difference by the longest common subsequence. Removed lines come before added ones.
    private static func lines(_ before: [[UInt8]], _ after: [[UInt8]]) -> [Line] {
        func line(_ kind: Kind, _ bytes: [UInt8]) -> Line {
            Line(kind: kind, text: String(decoding: bytes, as: UTF8.self))
        }
        guard !before.isEmpty, !after.isEmpty, before.count * after.count <= maximumCells else {
            return before.map { line(.removed, $0) } + after.map { line(.added, $0) }
        }
        let width = after.count + 1
        var lengths = [Int32](repeating: 0, count: (before.count + 1) * width)
        for row in before.indices.reversed() {
            for column in after.indices.reversed() {
                lengths[row * width + column] =
                    before[row] == after[column]
                    ? lengths[(row + 1) * width + column + 1] + 1
                    : max(lengths[(row + 1) * width + column], lengths[row * width + column + 1])
            }
        }
        var (row, column) = (0, 0)
        var lines: [Line] = []
        while row < before.count || column < after.count {
            if row < before.count, column < after.count, before[row] == after[column] {
                lines.append(line(.same, before[row]))
                (row, column) = (row + 1, column + 1)
            } else if row < before.count,
                column == after.count || lengths[(row + 1) * width + column] >= lengths[row * width + column + 1]
            {
                lines.append(line(.removed, before[row]))
                row += 1
            } else {
                lines.append(line(.added, after[column]))
                column += 1
            }
        }
        return lines
    }
}
