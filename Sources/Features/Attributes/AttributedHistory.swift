import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The history of a user with the user's attributes, as one snapshot has them.
///
/// A class: Swift 6.3.1 miscompiles functions that throw and return values as wide.
package final class AttributedHistory: Sendable {
    package let history: CustomerHistory
    /// The attributes that the caller sees, without removed ones, in the order of their names.
    package let attributes: [Attribute]
    /// All statements about attributes, by the number of the app whose public key has made them.
    fileprivate let sides: [Int64: [Attribute]]
    /// The revisions of the catalogs before the read.
    fileprivate let revisions: [Int64]

    fileprivate init(
        _ history: CustomerHistory, _ attributes: [Attribute], stated sides: [Int64: [Attribute]], _ revisions: [Int64]
    ) {
        self.history = history
        self.attributes = attributes
        self.sides = sides
        self.revisions = revisions
    }
}

package struct AttributedAnswer<Answer: Sendable>: Sendable {
    package let answer: Answer
    fileprivate let sides: [Int64: [Attribute]]

    /// The bytes of the attributes, about. Those that the answer does not contain are kept, too.
    package var attributesSize: Int { sides.values.reduce(0) { $0 + $1.bytes } }
}

/// The answers about a history with attributes, which are kept in memory.
///
/// A statement about an attribute does not raise the version of the user: nobody owns more or less by it. So one statement reads
/// the version and the attributes, which are compared with those of the kept answer.
extension EntitlementService {
    /// The history of a user with the attributes, and the time of the user; a nil history for an unknown user.
    package func attributedHistory(of user: User) async throws -> (known: AttributedHistory?, moment: Timestamp) {
        // Before anything is read. If the catalog changes meanwhile, the answer is kept for the earlier one and never given.
        let revisions = apps.revisions
        return try await ledger.read { transaction in
            let view = try view(of: user, transaction)
            guard let history = try transaction.history(of: user, from: view) else { return (nil, view.moment) }
            let sides = try AttributeRecords(database: transaction.database).attributes(of: history.number)
            let attributes = try transaction.attributes(stated: sides, seenBy: limitingApp)
            return (AttributedHistory(history, attributes, stated: sides, revisions), view.moment)
        }
    }

    /// The kept answer about a user, and the time of the user; nil if the answer has to be made.
    package func answer<Answer>(
        about user: User, keptIn answers: UserAnswers<AttributedAnswer<Answer>>
    ) async throws -> (answer: Answer, moment: Timestamp)? {
        guard let kept = answers[.init(user: user, seenBy: limitingApp)] else { return nil }
        let revisions = apps.revisions
        let moment: Timestamp? = try await ledger.read(.statement) { transaction in
            let now = try now(of: user, transaction)
            guard kept.holds(at: now, revisions) else { return nil }
            let records = AttributeRecords(database: transaction.database)
            return try records.areUnchanged(kept.answer.sides, kept.state, of: user) ? now : nil
        }
        return moment.map { (kept.answer.answer, $0) }
    }

    /// Keeps an answer.
    ///
    /// - Parameters:
    ///   - moment: The time of the user as of which the answer was made.
    ///   - changesAt: The next moment at which time alone may change the answer; nil for none.
    package func keep<Answer>(
        _ answer: Answer, madeFrom known: AttributedHistory, at moment: Timestamp, changingAt changesAt: Timestamp?,
        about user: User, in answers: UserAnswers<AttributedAnswer<Answer>>
    ) {
        guard let state = known.history.state else { return }
        answers.keep(
            .init(
                answer: AttributedAnswer(answer: answer, sides: known.sides), state: state, revisions: known.revisions,
                madeAt: moment, changesAt: changesAt),
            for: .init(user: user, seenBy: limitingApp))
    }
}

extension AttributeRecords {
    /// True if nothing was written for a user since a read, the attributes are the same, and the name is still the user's own.
    fileprivate func areUnchanged(
        _ sides: [Int64: [Attribute]], _ state: UserState, of user: User
    ) throws -> Bool {
        guard try database.has("app_attribute") else { return false }
        var isUsers = false
        var present: [Int64: [Attribute]] = [:]
        try database.forEachRow(Self.withUser, [state.number]) { row in
            let side: Int64 = try row.next()
            guard side == Self.user else {
                present[side, default: []].append(try Attribute(&row))
                return
            }
            let (issuer, name): (String, String) = (try row.next(), try row.next())
            isUsers =
                try row.next() == state.version && issuer.hasSameBytes(as: user.issuer)
                && name.hasSameBytes(as: user.name)
        }
        return isUsers && present == sides
    }

    /// The number that stands for the user's own row instead of an app.
    private static let user: Int64 = -1

    private static let withUser = """
        SELECT \(user) AS app, issuer AS name, name AS value, version AS stated_at, 0 AS is_public
        FROM "user" WHERE user_id = $1
        UNION ALL
        \(ofUser)
        """
}
