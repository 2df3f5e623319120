import Foundation
import Ledger
import Proofs

/// A text for comparisons that ignore the case and the forms of characters: NFKC, and the case folding of Unicode.
package struct FoldedText: Hashable, Sendable {
    /// The number of bytes of a text that are compared. The rest of a longer name is not searched.
    package static let maximumLength = 256

    fileprivate let bytes: [UInt8]

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

/// An index of the names of all users in memory, for searches for parts of names.
///
/// SQLite and PostgreSQL have no common index for parts of texts, and a table of parts would have as many rows for a new user as
/// the name has letters. A million names of 16 bytes need about 30 MB, and are searched in some milliseconds. Each search first
/// reads the users who have come since the search before.
package actor NameIndex {
    private static let namesOfPage = 10_000
    /// The longest time from the first request of a user to its commit, in seconds.
    private static let maximumCommitSeconds: Int64 = 300

    private let ledger: Ledger
    private let clock: any WallClock
    private var names = FoldedNames()
    /// All users who were first seen before this moment are in the index. Nil before the first search.
    private var completeUntil: Timestamp?
    /// The names in the index that the next search reads again, because they are newer than `completeUntil`.
    private var recent: Set<IndexedName> = []
    private var update: Task<Void, any Error>?

    package init(ledger: Ledger, clock: any WallClock) {
        (self.ledger, self.clock) = (ledger, clock)
    }

    /// The newest users with a name or an alias that contains a text, the newest first. Each has the name that contains it.
    package func users(named text: String, limit: Int) async throws -> [KnownUser] {
        // The clock of a local store goes back when the store begins anew.
        try await update(isRebuild: completeUntil.map { clock.now() < $0 } ?? true)
        let part = FoldedText(text)
        let numbers = names.users(containing: part, limit: limit)
        return try await ledger.read(.snapshot) { try $0.users(numbered: numbers, containing: part) }
    }

    /// Reads all names anew. Names that were erased, and users whom another process has added with an earlier time, are right
    /// again.
    package func rebuild() async throws { try await update(isRebuild: true) }

    /// Waits for the update under way, or makes one.
    private func update(isRebuild: Bool) async throws {
        if let update { return try await update.value }
        let update = Task { try await readNames(isRebuild: isRebuild) }
        self.update = update
        defer { self.update = nil }
        try await update.value
    }

    private func readNames(isRebuild: Bool) async throws {
        let completeUntil = clock.now().adding(seconds: -Self.maximumCommitSeconds)
        let former = isRebuild ? [] : recent
        var names = isRebuild ? FoldedNames() : self.names
        var recent: Set<IndexedName> = []
        for source in IndexedName.Source.allCases where !isRebuild || source != .aliased {
            var last = isRebuild ? IndexedName.first : IndexedName.before(self.completeUntil)
            while true {
                let start = last
                let page = try await ledger.read(.longSnapshot) {
                    try $0.names(from: source, after: start, limit: Self.namesOfPage)
                }
                for name in page where name.issuer != User.erasedIssuer {
                    if name.since >= completeUntil { recent.insert(name) }
                    guard !former.contains(name), let user = User(issuer: name.issuer, name: name.text) else {
                        continue
                    }
                    names.append(FoldedText(nameOf: user), of: name.user)
                }
                guard let end = page.last, page.count == Self.namesOfPage else { break }
                last = end
            }
        }
        (self.names, self.recent, self.completeUntil) = (names, recent, completeUntil)
    }
}

/// A name or an alias of a user.
private struct IndexedName: Hashable {
    /// The time of the user's first request, or the time from which the alias leads to the user.
    let since: Timestamp
    let user: Int64
    let issuer: String
    let text: String

    /// A name before all others.
    static let first = before(nil)

    /// A name before all names of a moment; nil for the first moment.
    static func before(_ moment: Timestamp?) -> IndexedName {
        IndexedName(since: moment ?? Timestamp(millisecondsSince1970: 0), user: .min, issuer: "", text: "")
    }

    enum Source: CaseIterable {
        case aliases
        /// The users' own names, of users who got an alias: a log-in may have renamed them.
        case aliased
        case users
    }
}

extension LedgerTransaction {
    /// The next names of a source in the order of time.
    fileprivate func names(
        from source: IndexedName.Source, after last: IndexedName, limit: Int
    ) throws -> [IndexedName] {
        let query =
            switch source {
            case .users:
                SQLQuery(
                    """
                    SELECT first_seen_at, user_id, issuer, name FROM "user" WHERE (first_seen_at, user_id) > ($1, $2)
                    ORDER BY first_seen_at, user_id LIMIT $3
                    """,
                    [last.since, last.user, limit])
            case .aliases:
                SQLQuery(
                    """
                    SELECT aliased_at, user_id, issuer, name FROM user_alias
                    WHERE (aliased_at, user_id, name, issuer) > ($1, $2, $3, $4)
                    ORDER BY aliased_at, user_id, name, issuer LIMIT $5
                    """,
                    [last.since, last.user, last.text, last.issuer, limit])
            case .aliased:
                SQLQuery(
                    """
                    SELECT aliased_at, "user".user_id, "user".issuer, "user".name
                    FROM user_alias JOIN "user" ON "user".user_id = user_alias.user_id
                    WHERE (aliased_at, user_alias.user_id) > ($1, $2)
                    ORDER BY aliased_at, user_alias.user_id LIMIT $3
                    """,
                    [last.since, last.user, limit])
            }
        return try database.rows(query) { row in
            IndexedName(
                since: try row.next(), user: try row.next(), issuer: try row.next(), text: try row.next())
        }
    }

    /// The users with numbers that have a name or an alias which contains a text, in the order of the numbers.
    fileprivate func users(numbered numbers: [Int64], containing part: FoldedText) throws -> [KnownUser] {
        guard !numbers.isEmpty else { return [] }
        var names = try database.dictionary(
            "SELECT user_id, issuer, name FROM user_alias WHERE user_id \(database.isIn(numbers: "$1"))",
            [database.list(numbers.sorted())]
        ) { row in
            let number: Int64 = try row.next()
            return try User(&row).flatMap { FoldedText(nameOf: $0).contains(part) ? (number, $0) : nil }
        }
        for (number, user) in try users.names(of: Set(numbers)) where FoldedText(nameOf: user).contains(part) {
            names[number] = user.issuer == User.erasedIssuer ? nil : user
        }
        let tokens = try accountTokens(of: Set(names.keys))
        return numbers.compactMap { number in
            guard let user = names[number], let found = tokens[number] else { return nil }
            return KnownUser(user: user, appAccountToken: found.token, firstSeenAt: found.firstSeenAt)
        }
    }
}

/// Folded names in blocks, the oldest first. If they are too many, the oldest are left out.
private struct FoldedNames {
    private static let namesOfBlock = 4096
    private static let maximumBytes = 128 * 1024 * 1024

    private var blocks: [Block] = []
    private var byteCount = 0

    mutating func append(_ name: FoldedText, of user: Int64) {
        if blocks.last?.users.count ?? Self.namesOfBlock == Self.namesOfBlock { blocks.append(Block()) }
        blocks[blocks.count - 1].append(name, of: user)
        byteCount += name.bytes.count + 1
        while byteCount > Self.maximumBytes { byteCount -= blocks.removeFirst().bytes.count }
    }

    /// The users of the newest names that contain a text, the newest first, each once.
    func users(containing part: FoldedText, limit: Int) -> [Int64] {
        guard !part.bytes.isEmpty else { return [] }
        var (found, known): ([Int64], Set<Int64>) = ([], [])
        for block in blocks.reversed() {
            for user in block.users(containing: part.bytes).reversed() where known.insert(user).inserted {
                found.append(user)
                if found.count == limit { return found }
            }
        }
        return found
    }

    private struct Block {
        /// The names with a NUL after each, which no name contains.
        private(set) var bytes: [UInt8] = []
        /// The place after the NUL of each name.
        private var ends: [Int] = []
        /// The user of each name.
        private(set) var users: [Int64] = []

        mutating func append(_ name: FoldedText, of user: Int64) {
            bytes += name.bytes
            bytes.append(0)
            ends.append(bytes.count)
            users.append(user)
        }

        func users(containing part: [UInt8]) -> [Int64] {
            var (found, place, name): ([Int64], Int, Int) = ([], 0, 0)
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
                        found.append(users[name])
                        place = ends[name]
                    }
                }
            }
            return found
        }
    }
}
