import Foundation
import Proofs
import Vocabulary

/// A token of a purchase outside the App Store, which has to be reported to Apple, also if nothing was bought with it (External Purchase
/// Server API). It grants nothing.
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class ExternalPurchase: Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// Nobody has reported it.
        case unreported
        /// A report waits to be sent.
        case waiting
        /// Apple has all its reports.
        case reported
        /// Apple has refused the last report.
        case refused
    }

    /// A token as Apple states it, in a notification or in the text that the app gets (StoreKit, "Receiving and decoding external purchase
    /// tokens").
    package struct Token: Hashable, Sendable {
        /// Apple's identifiers are UUIDs, in the sandbox after `SANDBOX_`.
        private static let maximumIdentifierSize = 128
        /// The types of the European Union, of which Apple reminds after their end, and the days after which it reminds of another token,
        /// such as one of Japan ("Reporting unrecognized and transactionless tokens").
        private static let (typesWithPeriod, reminderDays): ([String], Int64) = (["ACQUISITION", "SERVICES"], 10)
        /// The days from Apple's reminder to the deadline of the service. Apple's API has the reminder, and leaves the deadline to the
        /// agreement of each region.
        private static let daysAfterReminder: Int64 = 5
        /// The time before the deadline at which the service reports what nobody has reported, in seconds.
        static let ownReportTime: Int64 = 24 * 60 * 60

        package let identifier: String
        /// `ACQUISITION` or `SERVICES` (European Union), `IN_APP` or `LINK_OUT` (Japan); nil for a token that is not of a custom link.
        package let type: String?
        package let createdAt: Timestamp
        /// The end of a custom link token; nil for another one.
        package let expiresAt: Timestamp?

        package init(identifier: String, type: String?, createdAt: Timestamp, expiresAt: Timestamp?) {
            (self.identifier, self.type) = (identifier, type)
            (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
        }

        /// - Parameter date: The date of a statement without a date of creation; nil to require one.
        /// - Returns: Nil for an object without the form of a token.
        package init?(_ object: JSONObject, statedAt date: Timestamp?) {
            let type = object.text("tokenType")
            guard let identifier = object.text("externalPurchaseId"),
                (1...Self.maximumIdentifierSize).contains(identifier.utf8.count), !identifier.hasNUL,
                type.map({ $0.utf8.count <= Self.maximumIdentifierSize && !$0.hasNUL }) ?? true,
                let created = object.moment("tokenCreationDate") ?? date
            else { return nil }
            self.init(
                identifier: identifier, type: type, createdAt: created, expiresAt: object.moment("tokenExpirationDate"))
        }

        /// The time by which the token has to be reported.
        package var dueAt: Timestamp {
            let hasPeriod = Self.typesWithPeriod.contains { type?.hasSameBytes(as: $0) == true }
            let end = hasPeriod ? expiresAt : nil
            return (end ?? createdAt.adding(days: Self.reminderDays)).adding(days: Self.daysAfterReminder)
        }

        /// The time at which the service reports a token that no back end has reported: a day before it is due, which is enough for
        /// several attempts. A later report may still have line items.
        package var reportAt: Timestamp { dueAt.adding(seconds: -Self.ownReportTime) }
    }

    package let token: Token
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    /// The time at which the service has learned of it.
    package let learnedAt: Timestamp
    /// True if a back end knows it. Apple's notification alone does not make it known.
    package let isAnnounced: Bool
    package let state: State

    package init(
        _ token: Token, of app: String, at origin: Origin, learnedAt: Timestamp, isAnnounced: Bool,
        state: State = .unreported
    ) {
        (self.token, self.app, self.origin) = (token, app, origin)
        (self.learnedAt, self.isAnnounced, self.state) = (learnedAt, isAnnounced, state)
    }

    /// The position in the list: the time at which the service has learned of it, its identifier, and its app.
    package typealias Position = PagePosition<Int64, String, String>

    package var position: Position { Position(learnedAt.millisecondsSince1970, token.identifier, app) }
}

/// A report about a token of a purchase outside the App Store (External Purchase Server API, `ExternalPurchaseReport`).
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class ExternalPurchaseReport: Sendable {
    package struct Key: Hashable, Sendable {
        package let externalPurchaseIdentifier: String
        /// The identifier of the report, a UUID in lower case.
        package let requestIdentifier: String
        /// The bundle identifier of the app.
        package let app: String

        package init(_ requestIdentifier: String, of externalPurchaseIdentifier: String, in app: String) {
            (self.requestIdentifier, self.app) = (requestIdentifier, app)
            self.externalPurchaseIdentifier = externalPurchaseIdentifier
        }
    }

    package enum Status: String, CaseIterable, Sendable {
        case lineItem = "LINE_ITEM"
        case noLineItem = "NO_LINE_ITEM"
        case unrecognizedToken = "UNRECOGNIZED_TOKEN"
        case duplicateToken = "DUPLICATE_TOKEN"
    }

    package enum State: String, CaseIterable, Sendable {
        /// Apple does not have it yet.
        case waiting
        /// Apple has accepted it.
        case accepted
        /// Apple refuses it. It has no effect until it is corrected.
        case refused
    }

    /// The days from a transaction to the deadline of its report, and from a correction, which Apple wants promptly ("Reporting
    /// corrections"). The agreement of each region has Apple's deadline for transactions.
    private static let (transactionDays, correctionDays): (Int64, Int64) = (15, 1)

    package let key: Key
    package let status: Status
    /// The transactions and corrections with Apple's names; empty for another status than `lineItem`.
    package let lineItems: [JSONObject]
    package let reportedAt: Timestamp
    /// The identifier of the API key; nil if the service reports by itself.
    package let reportedBy: String?
    /// The time by which Apple has to have the report.
    package let dueAt: Timestamp
    package let attempts: Int
    /// The time of the next attempt; nil if the report does not wait.
    package let nextAttemptAt: Timestamp?
    package let acceptedAt: Timestamp?
    /// Apple's mistakes in a refused report; else the error of the last attempt.
    package let refusal: Refusal?

    /// Apple's answer to an attempt that has failed.
    package struct Refusal: Hashable, Sendable {
        package struct Mistake: Hashable, Sendable {
            package let errorCode: Int64
            package let errorMessage: String
            package let fieldName: String?
            package let lineItemId: String?
        }

        /// The largest number of mistakes that the ledger keeps. A corrected report tells of more.
        private static let maximumCount = 50

        /// The sentence about the attempt.
        package let message: String
        package let mistakes: [Mistake]

        package init(_ message: String, mistakes: [Mistake] = []) {
            (self.message, self.mistakes) = (message, Array(mistakes.prefix(Self.maximumCount)))
        }
    }

    package init(
        _ key: Key, _ status: Status, _ lineItems: [JSONObject] = [], reportedAt: Timestamp, by reportedBy: String?,
        dueAt: Timestamp, attempts: Int = 0, nextAttemptAt: Timestamp?, acceptedAt: Timestamp? = nil,
        refusal: Refusal? = nil
    ) {
        (self.key, self.status, self.lineItems) = (key, status, lineItems)
        (self.reportedAt, self.reportedBy, self.dueAt) = (reportedAt, reportedBy, dueAt)
        (self.attempts, self.nextAttemptAt) = (attempts, nextAttemptAt)
        (self.acceptedAt, self.refusal) = (acceptedAt, refusal)
    }

    /// A new report about a token. With line items, it is due after the oldest new transaction, and with corrections alone soon.
    package convenience init(
        _ requestIdentifier: String, about purchase: ExternalPurchase, _ status: Status, _ lineItems: [JSONObject] = [],
        at moment: Timestamp, by reportedBy: String?
    ) {
        let dates = lineItems.filter { $0["restatement"] != .bool(true) }.compactMap { $0.moment("creationDate") }
        let due =
            lineItems.isEmpty
            ? purchase.token.dueAt
            : dates.min()?.adding(days: Self.transactionDays) ?? moment.adding(days: Self.correctionDays)
        self.init(
            Key(requestIdentifier, of: purchase.token.identifier, in: purchase.app), status, lineItems,
            reportedAt: moment, by: reportedBy, dueAt: due, nextAttemptAt: moment)
    }

    package var lineItemIdentifiers: [String] { lineItems.compactMap { $0.text("lineItemId") } }

    package var state: State {
        if acceptedAt != nil { return .accepted }
        return nextAttemptAt == nil ? .refused : .waiting
    }

    /// The body of the request to Apple ("Send External Purchase Report"). The members of equal reports have the same order.
    package var content: JSONObject {
        [
            "requestIdentifier": .string(key.requestIdentifier),
            "externalPurchaseId": .string(key.externalPurchaseIdentifier), "status": .string(status.rawValue),
            "lineItems": lineItems.isEmpty ? nil : .array(lineItems.map { .object($0) }),
        ]
    }

    func duty(at origin: Origin) -> StoreDuty {
        StoreDuty(
            kind: .externalPurchase, app: key.app, origin: origin, subject: key.externalPurchaseIdentifier,
            deadline: dueAt)
    }

    /// The pauses are those of acknowledgements.
    var retry: GooglePurchase.Acknowledgement? {
        nextAttemptAt.map { .init(deadline: dueAt, attempts: attempts, nextAttemptAt: $0) }
    }

    /// The position in the list: the time of the report, its identifier, and its token.
    package typealias Position = PagePosition<Int64, String, String>

    package var position: Position {
        Position(reportedAt.millisecondsSince1970, key.requestIdentifier, key.externalPurchaseIdentifier)
    }
}

extension JSONObject {
    /// The dates of Apple's objects, in milliseconds, from 1970 to a year whose deadlines RFC 3339 can state.
    private static let dates: ClosedRange<Int64> = 0...250_000_000_000_000

    /// The date of a member in milliseconds since 1970; nil for another value.
    package func moment(_ name: String) -> Timestamp? {
        guard case .number(let number)? = self[name], let milliseconds = number.int64,
            Self.dates.contains(milliseconds)
        else { return nil }
        return Timestamp(millisecondsSince1970: milliseconds)
    }
}

package enum ExternalPurchaseError: RuledError, Equatable {
    /// The service does not know the token.
    case unknown
    /// Several apps have a token with the identifier.
    case ambiguous(apps: [String])
    /// A report does not have Apple's form.
    case invalid(String)
    /// A report with the same identifier has other content.
    case differs
    /// The service has no key with which it could ask the App Store about the app.
    case keyMissing

    package var rule: ErrorRule {
        switch self {
        case .unknown:
            ErrorRule(
                "externalPurchaseUnknown", .notFound,
                "The service does not know this token. Send its text to POST /v1/apple/external-purchases before its report.",
                korean: "서비스가 모르는 토큰입니다. 보고하기 전에 토큰을 POST /v1/apple/external-purchases로 보내세요.")
        case .ambiguous(let apps):
            ErrorRule(
                "externalPurchaseAmbiguous", .conflict,
                "The apps \(apps.joined(separator: ", ")) have a token with this identifier. Name the one that is meant in bundleId.",
                korean: "이 식별자의 토큰이 앱 \(apps.joined(separator: ", "))에 있습니다. 어느 앱인지 bundleId로 알리세요.")
        case .invalid(let detail):
            ErrorRule(
                "bodyInvalid", .badRequest, hasReason: true, detail, korean: "보고가 Apple의 형식이 아닙니다.")
        case .differs:
            ErrorRule(
                "externalPurchaseReportDiffers", .conflict,
                "A report with this requestIdentifier has other content, and Apple has not refused it. Send the same again, or use "
                    + "another identifier, also for a correction.",
                korean: "이 requestIdentifier의 보고가 다른 내용으로 이미 있고 Apple이 거절하지 않았습니다. 같은 내용을 다시 보내거나, 정정에도 다른 식별자를 쓰세요.")
        case .keyMissing:
            ErrorRule(
                "externalPurchaseKeyMissing", .unprocessable, isOfOperator: true,
                "The service has no key of App Store Connect for this app, with which it could report to Apple. Set `app-store-key`.",
                korean: "Apple에 보고할 이 앱의 App Store Connect 키가 서비스에 없습니다. `app-store-key`를 설정하세요.")
        }
    }
}
