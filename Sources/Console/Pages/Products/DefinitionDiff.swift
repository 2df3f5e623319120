import Proofs

struct DefinitionDiff: Sendable {
    /// A line, with true for an added one, false for a removed one, and nil for one of both definitions.
    private typealias Line = (isAdded: Bool?, text: String)

    /// The unchanged lines around a change.
    private static let context = 3
    /// The maximum number of lines to compare: time and memory grow with the square of the changed ones. Larger definitions
    /// differ as a whole.
    private static let maximumLines = 2000

    /// Nil if the product did not exist.
    let before: JSONObject?
    let after: JSONObject?

    /// The keys whose values differ, in the order of the definitions.
    var changedKeys: [String] {
        let keys = (before?.keys ?? []) + (after?.keys ?? []).filter { before?[$0] == nil }
        return keys.filter { before?[$0] != after?[$0] }
    }

    /// The difference by lines: each changed line has a sign and, for screen readers, a word.
    var html: HTML {
        let (before, after) = (Self.lines(before), Self.lines(after))
        let difference =
            before.count + after.count > Self.maximumLines
            ? nil : after.difference(from: before) { $0.utf8.elementsEqual($1.utf8) }
        let removed = difference.map { Set($0.removals.map(\.offset)) } ?? Set(before.indices)
        let added = difference.map { Set($0.insertions.map(\.offset)) } ?? Set(after.indices)
        guard !removed.isEmpty || !added.isEmpty else {
            return emptyNote("The definitions are the same.")
        }
        return HTML {
            p(.class("note")) {
                "Lines added: \(added.count), removed: \(removed.count). Keys:"
                for key in changedKeys {
                    also(Shown.identifier(key))
                }
            }
            pre(.class("diff")) { Self.rows(Self.merged(before, removing: removed, after, adding: added)) }
        }
    }

    /// The lines of both definitions in order. Removed lines come before added ones.
    private static func merged(
        _ before: [String], removing removed: Set<Int>, _ after: [String], adding added: Set<Int>
    ) -> [Line] {
        var lines: [Line] = []
        var (old, new) = (0, 0)
        while old < before.count || new < after.count {
            if removed.contains(old) {
                lines.append((false, before[old]))
                old += 1
            } else if added.contains(new) {
                lines.append((true, after[new]))
                new += 1
            } else {
                lines.append((nil, after[new]))
                (old, new) = (old + 1, new + 1)
            }
        }
        return lines
    }

    /// The changed lines with a few unchanged ones around them. An ellipsis stands for the lines that are left out.
    @HTMLBuilder private static func rows(_ lines: [Line]) -> HTML {
        let shown = Set(
            lines.indices.filter { lines[$0].isAdded != nil }.flatMap {
                max(0, $0 - context)...min(lines.count - 1, $0 + context)
            }
        )
        for (index, line) in lines.enumerated() {
            if shown.contains(index) {
                row(line)
            } else if index == 0 || shown.contains(index - 1) {
                span { plain("⋯") }
            }
        }
    }

    private static func row(_ line: Line) -> HTML {
        switch line.isAdded {
        case nil: span { plain("  " + line.text) }
        case true?:
            ins(.class("diff-added")) {
                span(.class("hidden")) { "Added: " }
                plain("+ " + line.text)
            }
        case false?:
            del(.class("diff-removed")) {
                span(.class("hidden")) { "Removed: " }
                plain("- " + line.text)
            }
        }
    }

    private static func lines(_ object: JSONObject?) -> [String] {
        guard let object else { return [] }
        return JSONValue.object(object).prettyText.split(separator: "\n").map(String.init)
    }
}

extension CollectionDifference.Change {
    fileprivate var offset: Int {
        switch self {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}
