import Proofs
import Vocabulary

/// A sale outside Google's billing, or a refund of one, that a back end has reported, and that Google Play is to know
/// (`externaltransactions`). It grants nothing.
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class ExternalTransactionReport: Sendable {
    package struct Key: Hashable, Sendable {
        /// `google`, or `localPlay`.
        package let realm: Realm
        package let packageName: String
        /// The identifier that the back end gave to the transaction.
        package let transactionIdentifier: String
        /// The report about the transaction: the sale, or a refund.
        package let part: Part

        /// The key of another report about the transaction.
        package func with(_ part: Part) -> Key {
            Key(realm: realm, packageName: packageName, transactionIdentifier: transactionIdentifier, part: part)
        }
    }

    package enum Part: Hashable, Sendable {
        case sale
        /// - Parameter identifier: The identifier that the back end gave to the refund (`refundId`).
        case partialRefund(identifier: String)
        case fullRefund

        /// Google's identifiers have neither of the two other texts.
        var column: String {
            switch self {
            case .sale: ""
            case .partialRefund(let identifier): identifier
            case .fullRefund: "~"
            }
        }

        init(column: String) {
            switch column {
            case "": self = .sale
            case "~": self = .fullRefund
            default: self = .partialRefund(identifier: column)
            }
        }
    }

    package enum State: String, CaseIterable, Sendable {
        /// Google Play does not have it yet.
        case waiting
        /// Google Play has it.
        case passedOn
        /// Google Play refuses it for good.
        case refused
    }

    /// A program of Google's for sales outside its billing, which the details of a sale name.
    package enum Program: String, CaseIterable, Sendable {
        /// Billing by the developer, beside Google's or in its place.
        case alternativeBilling
        /// Links to offers and downloads outside Google Play, for customers in the EEA.
        case externalOffers
        /// Links to content and downloads outside Google Play, for customers in the US.
        case externalContentLinks

        /// The member of a sale with the program's details; nil for a program without any.
        package var details: String? {
            switch self {
            case .alternativeBilling: nil
            case .externalOffers: "externalOfferDetails"
            case .externalContentLinks: "externalContentLinkDetails"
            }
        }
    }

    /// The content of the link that has led to a sale (`linkType`).
    package enum LinkType: String, CaseIterable, Sendable {
        case digitalContentOffer = "LINK_TO_DIGITAL_CONTENT_OFFER"
        case appDownload = "LINK_TO_APP_DOWNLOAD"
    }

    /// The time in which Google Play is to have it, in seconds: "within 24 hours of the transaction occurring"
    /// (developer.android.com/google/play/billing/alternative/backend). The newest page (…/outside-gpb-backend) refers to the
    /// guidelines of each program, so the shortest known time counts for all.
    private static let passingTime: Int64 = 24 * 60 * 60

    package let key: Key
    /// The bundle identifier of the app in the catalog.
    package let app: String
    /// The body of the request to Google Play.
    package let content: JSONObject
    /// The transaction that Google Play has to know before: the first of the series that the sale continues, or the download of the app
    /// in which it was made; nil for none.
    package let initialIdentifier: String?
    package let reportedAt: Timestamp
    /// The time at which Google Play is to have it, or at which the back end has reported it, if that was later: it is missed then.
    let dueAt: Timestamp
    /// The identifier of the API key.
    package let reportedBy: String
    package let attempts: Int
    /// The time of the next attempt; nil if the report does not wait.
    package let nextAttemptAt: Timestamp?
    package let passedOnAt: Timestamp?
    /// The sentence of the last attempt's error; nil if there is none.
    package let lastError: String?

    /// A new report.
    ///
    /// - Parameter occurredAt: The time of the transaction, or of the refund.
    package convenience init(
        _ key: Key, of app: String, _ content: JSONObject, continuing initialIdentifier: String? = nil,
        occurredAt: Timestamp, reportedAt: Timestamp, by reportedBy: String
    ) {
        // The milliseconds of the report tell the duties of two refunds within one second apart.
        let due = occurredAt.adding(seconds: Self.passingTime)
            .adding(milliseconds: reportedAt.millisecondsSince1970 % 1000)
        self.init(
            key, of: app, content, continuing: initialIdentifier, reportedAt: reportedAt,
            dueAt: max(due, reportedAt), by: reportedBy, attempts: 0, nextAttemptAt: reportedAt, passedOnAt: nil,
            lastError: nil)
    }

    /// A recorded report.
    init(
        _ key: Key, of app: String, _ content: JSONObject, continuing initialIdentifier: String?,
        reportedAt: Timestamp, dueAt: Timestamp, by reportedBy: String, attempts: Int, nextAttemptAt: Timestamp?,
        passedOnAt: Timestamp?, lastError: String?
    ) {
        self.dueAt = dueAt
        (self.key, self.app, self.content) = (key, app, content)
        (self.initialIdentifier, self.reportedAt, self.reportedBy) = (initialIdentifier, reportedAt, reportedBy)
        (self.attempts, self.nextAttemptAt) = (attempts, nextAttemptAt)
        (self.passedOnAt, self.lastError) = (passedOnAt, lastError)
    }

    package var state: State {
        if passedOnAt != nil { return .passedOn }
        return nextAttemptAt == nil ? .refused : .waiting
    }

    /// The amount before tax that a sale has, or that a partial refund gives back, in millionths; nil for a full refund.
    package var preTaxMicros: Int64? { preTaxAmount?.text("priceMicros").flatMap { Int64($0) } }

    /// The currency of that amount.
    package var currency: String? { preTaxAmount?.text("currency") }

    private var preTaxAmount: JSONObject? {
        let field = key.part == .sale ? "originalPreTaxAmount" : "partialRefund"
        guard case .object(let amount)? = content[field] else { return nil }
        if case .object(let inner)? = amount["refundPreTaxAmount"] { return inner }
        return amount
    }

    /// The program of a sale; nil for a refund.
    package var program: Program? {
        guard key.part == .sale else { return nil }
        return Program.allCases.first { $0.details.map { content[$0] != nil } ?? false } ?? .alternativeBilling
    }

    /// The content of the link that has led to a sale; nil if the report states none.
    package var linkType: LinkType? {
        guard let details = program?.details, case .object(let details)? = content[details] else { return nil }
        return details.text("linkType").flatMap(LinkType.init)
    }

    /// The body of the request without the token, which is a secret of the customer's app.
    package var shownContent: JSONObject {
        var shown = JSONObject()
        for member in content.members {
            var value = member.value
            if case .object(let inner) = value, inner["externalTransactionToken"] != nil {
                var rest = JSONObject()
                for each in inner.members where each.key != "externalTransactionToken" {
                    _ = rest.add(each.key, each.value)
                }
                value = .object(rest)
            }
            _ = shown.add(member.key, value)
        }
        return shown
    }

    var duty: StoreDuty {
        StoreDuty(
            kind: .externalTransaction, app: app, origin: Origin(googlePlay: key.realm, isTest: false),
            subject: key.transactionIdentifier, deadline: dueAt)
    }

    /// The pauses are those of acknowledgements.
    var retry: GooglePurchase.Acknowledgement? {
        nextAttemptAt.map { .init(deadline: duty.deadline, attempts: attempts, nextAttemptAt: $0) }
    }

    /// True if another report has to reach Google Play first: the sale before its refunds, refunds in their order, and the first
    /// transaction of a series before the others.
    func follows(_ other: Waiting) -> Bool {
        guard other.transactionIdentifier == key.transactionIdentifier else {
            return key.part == .sale && other.part == .sale && other.transactionIdentifier == initialIdentifier
        }
        guard key.part != .sale, other.part != key.part else { return false }
        return other.part == .sale || (other.reportedAt, other.part.column) < (reportedAt, key.part.column)
    }

    /// A report that waits, without its content.
    struct Waiting {
        let transactionIdentifier: String
        let part: Part
        let reportedAt: Timestamp
        let nextAttemptAt: Timestamp
    }
}

package enum ExternalTransactionError: RuledError, Equatable {
    /// A report with the same identifiers has other content.
    case differs
    /// Nobody has reported the transaction that is refunded.
    case unknown
    /// The service has no service account for an app on Google Play.
    case accountMissing

    package var rule: ErrorRule {
        switch self {
        case .differs:
            ErrorRule(
                "externalTransactionDiffers", .conflict,
                "The external transaction, or the refund, was reported with other content, and Google Play has not refused it. Send "
                    + "the same again, or use another identifier.",
                korean: "외부 거래나 환불이 다른 내용으로 이미 보고되었고 Google Play가 거절하지 않았습니다. 같은 내용을 다시 보내거나 다른 식별자를 쓰세요.")
        case .unknown:
            ErrorRule(
                "externalTransactionUnknown", .notFound,
                "Nobody has reported an external transaction with this identifier. Report it before its refund.",
                korean: "이 식별자로 보고된 외부 거래가 없습니다. 환불보다 먼저 거래를 보고하세요.")
        case .accountMissing:
            ErrorRule(
                "externalTransactionAccountMissing", .unprocessable, isOfOperator: true,
                "The service has no service account with which it could pass the report on to Google Play. Set "
                    + "`google-service-account`.",
                korean: "보고를 Google Play에 전달할 서비스 계정이 없습니다. `google-service-account`를 설정하세요.")
        }
    }
}

extension ExternalTransactionReport {
    /// The position in the list: the time of the report, its transaction and its refund.
    package typealias Position = PagePosition<Int64, String, String>

    package var position: Position {
        Position(reportedAt.millisecondsSince1970, key.transactionIdentifier, key.part.column)
    }
}
