import Catalog
import Ledger
import Proofs
import Synchronization
import Vocabulary

/// Answers that follow from what users own, kept in memory as long as they hold, from the second on.
///
/// A kept answer is given again if one read by the user's number finds the same name and the same version, if no catalog has
/// changed, and if no period has begun or ended since. So an answer needs no message to become invalid, and holds for several
/// processes: each write that changes what a user owns raises the version of the user in the same commit.
package final class UserAnswers<Answer: Sendable>: Sendable {
    package struct Key: Hashable {
        fileprivate let user: User
        private let limitingApp: ByteKey?
        private let requestedApp: ByteKey?

        package init(user: User, seenBy limitingApp: String?, in requestedApp: String? = nil) {
            self.user = user
            self.limitingApp = limitingApp.map { ByteKey($0) }
            self.requestedApp = requestedApp.map { ByteKey($0) }
        }
    }

    package struct Kept: Sendable {
        package let answer: Answer
        package let state: UserState
        let revisions: [Int64]
        let madeAt: Timestamp
        /// The moment at which time alone may change the answer; nil for none.
        let changesAt: Timestamp?

        package init(
            answer: Answer, state: UserState, revisions: [Int64], madeAt: Timestamp, changesAt: Timestamp? = nil
        ) {
            (self.answer, self.state, self.revisions) = (answer, state, revisions)
            (self.madeAt, self.changesAt) = (madeAt, changesAt)
        }

        /// True if neither time nor a catalog has changed the answer.
        package func holds(at moment: Timestamp, _ revisions: [Int64]) -> Bool {
            self.revisions == revisions && madeAt <= moment && changesAt.map { moment < $0 } ?? true
        }
    }

    /// The approximate size of an entry without its answer, in bytes.
    private static var overhead: Int { 512 }

    private let size: @Sendable (Answer) -> Int
    private let kept: RecentValues<Key, Kept>
    /// Parts of the hashes of the keys whose answers were last made, each at the place that follows from its hash.
    private let made = Mutex(Array(repeating: UInt32(0), count: 1 << 16))

    /// - Parameters:
    ///   - limit: The largest sum of the sizes of all answers, in bytes.
    ///   - size: Returns the size of an answer in bytes.
    package init(upTo limit: Int, _ size: @escaping @Sendable (Answer) -> Int) {
        kept = RecentValues(upTo: limit)
        self.size = size
    }

    package subscript(key: Key) -> Kept? { kept[key] }

    /// Keeps an answer if one was made for the same key lately.
    ///
    /// Most users ask once a day. An answer that nobody asks for again would cost more than it saves, and displace others.
    package func keep(_ answer: Kept, for key: Key) {
        let hash = UInt(bitPattern: key.hashValue)
        let isRepeated = made.withLock { made in
            let (place, mark) = (Int(hash % UInt(made.count)), UInt32(truncatingIfNeeded: hash >> 32))
            defer { made[place] = mark }
            return made[place] == mark
        }
        guard isRepeated else { return }
        kept.keep(answer, for: key, size: size(answer.answer) + key.user.name.utf8.count + Self.overhead)
    }
}

extension EntitlementService {
    /// An answer about the items of a user, including those that everybody owns.
    ///
    /// - Parameter make: Makes the answer from the items, in order, if none is kept. Its second argument is false for an unknown user.
    package func answer<Answer>(
        aboutItemsOf user: User, keptIn answers: UserAnswers<Answer>,
        _ make: @Sendable ([OwnedItem], Bool) throws -> Answer
    ) async throws -> Answer {
        try await answer(about: user, keptIn: answers) { read, view in
            try make(
                OwnedItem.all(by: read ?? [], owningBesides: view.free, at: view.moment, type: view.type), read != nil)
        }
    }

    /// An answer about the rights that a user has or had, in the order of the catalogs.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the app whose rights are read; nil for all apps.
    ///   - make: Makes the answer from the rights, if none is kept. Its second argument is false for an unknown user.
    package func answer<Answer>(
        aboutRightsOf user: User, in app: String? = nil, keptIn answers: UserAnswers<Answer>,
        _ make: @Sendable ([UserRight], Bool) throws -> Answer
    ) async throws -> Answer {
        try await answer(about: user, in: app, keptIn: answers) { read, view in
            try make(
                UserRight.all(
                    of: catalogs.rights(in: limitingApp ?? app), by: read ?? [], owningBesides: view.free,
                    at: view.moment, type: view.type), read != nil)
        }
    }

    private func answer<Answer>(
        about user: User, in app: String? = nil, keptIn answers: UserAnswers<Answer>,
        _ make: ([ItemCoverage]?, Viewpoint) throws -> Answer
    ) async throws -> Answer {
        let key = UserAnswers<Answer>.Key(user: user, seenBy: limitingApp, in: app)
        // Before anything is read. If the catalog changes meanwhile, the answer is kept for the earlier one and never given.
        let revisions = apps.revisions
        let known = answers[key]
        let read = try await ledger.read(.statement, mayLag: true) { transaction -> (UserCoverage?, Viewpoint)? in
            let now = try now(of: user, transaction)
            if let known, known.holds(at: now, revisions), try transaction.isUnchanged(known.state, of: user) {
                return nil
            }
            let view = view(at: now)
            return (try transaction.coverage(of: user, from: view), view)
        }
        guard let (read, view) = read else {
            guard let known else { throw ledger.storage.damaged }
            return known.answer
        }
        let answer = try make(read?.coverage, view)
        // A standby may show a commit that a failover loses, and another commit then gives the user the same version.
        if LedgerPosition.required == nil, let read, let state = read.state {
            answers.keep(
                .init(
                    answer: answer, state: state, revisions: revisions, madeAt: view.moment, changesAt: read.changesAt),
                for: key)
        }
        return answer
    }
}
