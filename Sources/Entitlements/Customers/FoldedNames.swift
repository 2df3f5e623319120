import Foundation
import Proofs
import Vocabulary

/// A text for comparisons that ignore the case and the forms of characters: NFKC, and the case folding of Unicode.
package struct FoldedText: Hashable, Sendable {
    /// The number of bytes of a text that are compared. The rest of a longer name is not searched.
    package static let maximumLength = 256

    let bytes: [UInt8]

    package init(_ text: String) {
        let compared = text.utf8.prefix(Self.maximumLength)
        if compared.allSatisfy({ $0 < 0x80 }) {
            bytes = compared.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        } else {
            // Some letters have no lowercase form of their own, such as ß and ς. The uppercase form joins them with others.
            let folded = String(decoding: compared, as: UTF8.self).precomposedStringWithCompatibilityMapping
                .uppercased().lowercased().precomposedStringWithCompatibilityMapping
            bytes = Array(folded.utf8)
        }
    }

    /// The name of a user; of an app's customer, the id as the app states it.
    package init(nameOf user: User) {
        self.init(user.name.utf8.contains(UInt8(ascii: "%")) ? CustomerIdentifier(user)?.text ?? user.name : user.name)
    }

    package func contains(_ part: FoldedText) -> Bool { bytes.contains(part.bytes) }
}

/// The folded names of users in memory, in the order of their times. If they are too many, the oldest are left out.
struct FoldedNames {
    private static let maximumBytes = 128 * 1024 * 1024

    private var lists = NameSource.allCases.map { _ in List() }

    /// Adds names of a source, which follow those that it has.
    mutating func append(_ page: some Sequence<IndexedName>, from source: NameSource) {
        for name in page where name.issuer != User.erasedIssuer {
            guard let user = User(issuer: name.issuer, name: name.text) else { continue }
            lists[source.rawValue].append(FoldedText(nameOf: user), at: name.position)
        }
        boundMemory()
    }

    /// Replaces the names after a position by others, which are given with the newest first.
    mutating func replace(after end: RecordPosition, with page: [IndexedName], from source: NameSource) {
        lists[source.rawValue].removeAll(after: end)
        append(page.reversed().drop { $0.position <= end }, from: source)
    }

    mutating func replace(since start: Timestamp, with others: FoldedNames) {
        for source in NameSource.allCases.map(\.rawValue) {
            lists[source].removeAll(after: RecordPosition(start.millisecondsSince1970, .min, 0))
            lists[source].append(others.lists[source])
        }
        boundMemory()
    }

    private mutating func boundMemory() {
        while lists.map(\.byteCount).reduce(0, +) > Self.maximumBytes {
            guard let largest = lists.indices.max(by: { lists[$0].byteCount < lists[$1].byteCount }) else { return }
            lists[largest].removeOldest()
        }
    }

    /// The users of the newest names that contain a text, the newest first, each once.
    ///
    /// - Parameters:
    ///   - last: The position after which the users begin; nil for the first ones.
    ///   - first: The users who come before all others.
    func users(
        containing part: FoldedText, after last: RecordPosition?, limit: Int, first: some Sequence<Int64>
    ) -> [RecordPosition] {
        var searches = [Search(part: part.bytes, found: first.map { RecordPosition(.max, $0, 0) }.sorted())]
        if !part.bytes.isEmpty { searches += lists.map { Search(part: part.bytes, blocks: $0.blocks[...]) } }
        var (found, known): ([RecordPosition], Set<Int64>) = ([], [])
        while found.count < limit {
            var newest: (search: Int, position: RecordPosition)?
            for search in searches.indices {
                guard let position = searches[search].newest() else { continue }
                if newest.map({ $0.position < position }) ?? true { newest = (search, position) }
            }
            guard let newest else { break }
            searches[newest.search].found.removeLast()
            if known.insert(newest.position.second).inserted, last.map({ newest.position < $0 }) ?? true {
                found.append(newest.position)
            }
        }
        return found
    }

    /// A search in the names of a list, the newest first.
    private struct Search {
        let part: [UInt8]
        /// The blocks that were not searched yet.
        var blocks: ArraySlice<Block> = []
        /// The names of the last block that contain the text. The last one is the newest.
        var found: [RecordPosition] = []

        /// The newest name that was not taken yet; nil if no other one contains the text.
        mutating func newest() -> RecordPosition? {
            while found.isEmpty, let block = blocks.popLast() { found = block.names(containing: part) }
            return found.last
        }
    }

    /// Names in blocks, the oldest first.
    private struct List {
        private static let namesOfBlock = 4096

        private(set) var blocks: [Block] = []
        private(set) var byteCount = 0

        mutating func append(_ name: FoldedText, at position: RecordPosition) {
            if blocks.last?.count ?? Self.namesOfBlock >= Self.namesOfBlock { blocks.append(Block()) }
            blocks[blocks.count - 1].append(name, at: position)
            byteCount += name.bytes.count + 1
        }

        mutating func append(_ others: List) {
            blocks += others.blocks
            byteCount += others.byteCount
        }

        mutating func removeAll(after end: RecordPosition) {
            while let last = blocks.indices.last {
                let size = blocks[last].bytes.count
                blocks[last].removeAll(after: end)
                byteCount -= size - blocks[last].bytes.count
                guard blocks[last].count == 0 else { return }
                blocks.removeLast()
            }
        }

        mutating func removeOldest() { byteCount -= blocks.removeFirst().bytes.count }
    }

    private struct Block {
        /// The names with a NUL after each, which no name contains.
        private(set) var bytes: [UInt8] = []
        /// The place after the NUL of each name.
        private var ends: [Int32] = []
        private var times: [Int64] = []
        private var users: [Int64] = []

        var count: Int { users.count }

        mutating func append(_ name: FoldedText, at position: RecordPosition) {
            bytes += name.bytes
            bytes.append(0)
            ends.append(Int32(bytes.count))
            times.append(position.first)
            users.append(position.second)
        }

        mutating func removeAll(after end: RecordPosition) {
            let kept = users.indices.last { position(of: $0) <= end }.map { $0 + 1 } ?? 0
            bytes.removeLast(bytes.count - (kept == 0 ? 0 : Int(ends[kept - 1])))
            ends.removeLast(count - kept)
            times.removeLast(count - kept)
            users.removeLast(count - kept)
        }

        private func position(of name: Int) -> RecordPosition { RecordPosition(times[name], users[name], 0) }

        /// The positions of the names that contain a text.
        func names(containing part: [UInt8]) -> [RecordPosition] {
            var (found, place, name): ([RecordPosition], Int, Int) = ([], 0, 0)
            bytes.withUnsafeBytes { bytes in
                part.withUnsafeBytes { part in
                    guard let start = bytes.baseAddress, let wanted = part.baseAddress, let first = part.first else {
                        return
                    }
                    // The search for a byte reads many at once.
                    while let match = memchr(start + place, Int32(first), bytes.count - place) {
                        place = start.distance(to: match)
                        guard place + part.count <= bytes.count else { return }
                        guard memcmp(match, wanted, part.count) == 0 else {
                            place += 1
                            continue
                        }
                        while ends[name] <= place { name += 1 }
                        found.append(position(of: name))
                        place = Int(ends[name])
                    }
                }
            }
            return found
        }
    }
}
