import Ledger
import Proofs
import Vocabulary

/// An index of the names of all users in memory, for the search for parts of names.
///
/// SQLite and PostgreSQL have no common index for parts of texts, and a table of parts would have as many rows for a new user as
/// the name has letters. A million names of 16 bytes need about 40 MB, and are searched in some milliseconds.
///
/// A user's time is that of the first request, which a commit may follow late. So each search reads the names of the last minutes
/// again, the newest first, up to a limit. If there are more, a task in the background reads all of them, and the search may miss
/// some until it has.
package actor NameIndex {
    /// The largest number of names of each source that a search reads.
    package static let namesOfSearch = 2000
    private static let namesOfPage = 10_000
    /// The longest time from the first request of a user to its commit, in seconds.
    private static let maximumCommitSeconds: Int64 = 300
    private static let refreshPause = Duration.seconds(10)

    private let ledger: Ledger
    private let clock: any WallClock
    private var names = FoldedNames()
    /// All users who were first seen before this moment are in the index. Nil before the first search.
    private var completeUntil: Timestamp?
    private var reading: Task<Void, any Error>?
    private var nextRefresh = ContinuousClock.now

    package init(ledger: Ledger, clock: any WallClock) {
        (self.ledger, self.clock) = (ledger, clock)
    }

    /// The users whose name or an alias is a text or contains it, or whose account token it is. Those of this name come first,
    /// then the newest. Each has the name that contains the text.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of users whom the text identifies otherwise. They come first, too.
    ///   - last: The end of the previous page; nil for the first page.
    /// - Returns: A page of users, and its end; nil on the last page.
    package func users(
        named text: String, identified numbers: Set<Int64> = [], after last: RecordPosition? = nil, limit: Int
    ) async throws -> (users: [KnownUser], next: RecordPosition?) {
        // The clock of a local store goes back when the store begins anew.
        while completeUntil.map({ clock.now() < $0 }) ?? true { try await rebuild() }
        try await readNewest()
        let part = FoldedText(text)
        let identified = try await ledger.read(.snapshot) { transaction in
            let others = try transaction.known(try transaction.presentNames(of: numbers))
            return try transaction.users(identifiedBy: text).merging(others) { named, _ in named }
        }
        let found = names.users(containing: part, after: last, limit: limit + 1, first: identified.keys)
        let shown = Array(found.prefix(limit))
        let others = try await ledger.read(.snapshot) {
            try $0.users(numbered: shown.map(\.second).filter { identified[$0] == nil }, containing: part)
        }
        let users = shown.compactMap { identified[$0.second] ?? others[$0.second] }
        return (users, found.count > limit ? shown.last : nil)
    }

    /// Reads all names anew. Names that were erased, and users whom another process has added with an earlier time, are right
    /// again.
    package func rebuild() async throws { try await read { try await $0.readAll() } }

    /// Reads the names anew that may have come since the last time.
    private func refresh() async throws { try await read { try await $0.readRecent() } }

    /// Brings an index in use up to date.
    ///
    /// - Parameter isRebuild: True to read all names anew.
    package func keepUp(isRebuild: Bool) async throws {
        guard completeUntil != nil else { return }
        try await isRebuild ? rebuild() : refresh()
    }

    /// Waits for the reading under way, or begins one.
    private func read(_ body: @escaping @Sendable (NameIndex) async throws -> Void) async throws {
        if let reading { return try await reading.value }
        let reading = Task { try await body(self) }
        self.reading = reading
        defer { self.reading = nil }
        try await reading.value
    }

    private func readAll() async throws {
        let moment = clock.now().adding(seconds: -Self.maximumCommitSeconds)
        // The names of users are as a log-in has left them.
        names = try await readNames(since: nil, aliasedSince: moment)
        completeUntil = moment
    }

    private func readRecent() async throws {
        guard let start = completeUntil else { return }
        let moment = clock.now().adding(seconds: -Self.maximumCommitSeconds)
        let recent = try await readNames(since: start, aliasedSince: start)
        names.replace(since: start, with: recent)
        // A search in between may have set a later moment, and what it read is replaced.
        completeUntil = max(start, moment)
    }

    private func readNames(since start: Timestamp?, aliasedSince aliasedStart: Timestamp) async throws -> FoldedNames {
        var names = FoldedNames()
        for source in NameSource.allCases {
            var last = IndexedName.before(source == .aliased ? aliasedStart : start)
            while true {
                let first = last
                let page = try await ledger.read(.longSnapshot) {
                    try $0.names(from: source, after: first, limit: Self.namesOfPage)
                }
                names.append(page, from: source)
                guard let end = page.last, page.count == Self.namesOfPage else { break }
                last = end
            }
        }
        return names
    }

    /// Reads the newest names again, of which some may have come since the last time.
    private func readNewest() async throws {
        guard let start = completeUntil else { return }
        let moment = clock.now().adding(seconds: -Self.maximumCommitSeconds)
        let pages = try await ledger.read(.snapshot) { transaction in
            try NameSource.allCases.map {
                try transaction.names(
                    from: $0, after: .before(start), limit: Self.namesOfSearch, isNewestFirst: true)
            }
        }
        for (source, page) in zip(NameSource.allCases, pages) {
            // The names of a user at a moment may be on two pages.
            let end = page.count < Self.namesOfSearch ? nil : page.last?.position
            names.replace(after: end ?? RecordPosition(start.millisecondsSince1970, .min, 0), with: page, from: source)
        }
        if pages.allSatisfy({ $0.count < Self.namesOfSearch }) {
            completeUntil = max(start, moment)
        } else if reading == nil, nextRefresh <= .now {
            nextRefresh = .now + Self.refreshPause
            Task { try await refresh() }
        }
    }
}

/// A name or an alias of a user.
struct IndexedName {
    /// The time of the user's first request, or the time from which the alias leads to the user.
    let since: Timestamp
    let user: Int64
    let issuer: String
    let text: String

    /// A name before all names of a moment; nil for the first moment.
    static func before(_ moment: Timestamp?) -> IndexedName {
        IndexedName(since: moment ?? Timestamp(millisecondsSince1970: 0), user: .min, issuer: "", text: "")
    }

    var position: RecordPosition { RecordPosition(since.millisecondsSince1970, user, 0) }
}

/// The lists of names, each in the order of time.
enum NameSource: Int, CaseIterable {
    case aliases
    /// The users' own names, of users who got an alias: a log-in may have renamed them.
    case aliased
    case users
}

extension LedgerTransaction {
    /// The names of a source after another one.
    ///
    /// - Parameter isNewestFirst: True for the newest ones, the newest first; false for the next ones in the order of time.
    fileprivate func names(
        from source: NameSource, after last: IndexedName, limit: Int, isNewestFirst: Bool = false
    ) throws -> [IndexedName] {
        let (tables, order, name): (String, [String], String) =
            switch source {
            case .users: (#""user""#, ["first_seen_at", "user_id"], "issuer, name")
            case .aliases: ("user_alias", ["aliased_at", "user_id", "name", "issuer"], "issuer, name")
            case .aliased:
                (
                    #"user_alias JOIN "user" ON "user".user_id = user_alias.user_id"#,
                    ["aliased_at", "user_alias.user_id"], #""user".issuer, "user".name"#
                )
            }
        let values = ([last.since, last.user, last.text, last.issuer] as [any SQLConvertible]).prefix(order.count)
        let parameters = values.indices.map { "$\($0 + 1)" }
        return try database.rows(
            """
            SELECT \(order[0]), \(order[1]), \(name) FROM \(tables)
            WHERE (\(order.joined(separator: ", "))) > (\(parameters.joined(separator: ", ")))
            ORDER BY \(order.map { isNewestFirst ? $0 + " DESC" : $0 }.joined(separator: ", ")) LIMIT $\(order.count + 1)
            """,
            values + [limit]
        ) { row in
            IndexedName(
                since: try row.next(), user: try row.next(), issuer: try row.next(), text: try row.next())
        }
    }

    /// The users with numbers that have a name or an alias which contains a text.
    fileprivate func users(numbered numbers: [Int64], containing part: FoldedText) throws -> [Int64: KnownUser] {
        guard !numbers.isEmpty else { return [:] }
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
        return try known(names)
    }
}
