import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// A refusal in the plugin's form (`ErrorPayload`).
///
/// The plugin caches an answer with the status 200 for two minutes, and reports any other status to the app as a failed
/// communication. In both cases it keeps the transaction, and the App Store delivers it again.
package enum CordovaRefusal {
    /// The plugin's number of an error (`ErrorCode`).
    package enum Number: Int, CaseIterable, Sendable {
        case communication = 6_777_014
        case verificationFailed = 6_777_017
    }

    /// The plugin's form, with the status of the problem for people who read the body.
    package static func json(of problem: Problem) -> JSONValue {
        // No later event can change a permanent refusal.
        let isPermanent = RevenueCatErrorRule.isPermanent(problem.code)
        let number: Number = isPermanent ? .verificationFailed : .communication
        return .object([
            "ok": .bool(false), "status": .integer(problem.status), "code": .integer(number.rawValue),
            "message": .string(problem.detail), "data": .object(["latest_receipt": .bool(true)]),
        ])
    }

    /// The reason to refuse an authentic proof whose transactions were presented to the ledger; nil for a success.
    ///
    /// After a success, the plugin finishes every transaction of its receipt. So a success follows only if none of them can be lost.
    ///
    /// - Parameters:
    ///   - lines: The results for the transactions of the proof.
    ///   - types: The types of products by the catalog.
    package static func reason(_ lines: [Redemption.Line], types: [ByteKey: ProductType]) -> RedemptionError? {
        let refused = lines.filter { !$0.mayFinish }
        let temporary = refused.filter { !RevenueCatErrorRule.isPermanent($0.result.rawValue) }
        let reason =
            refused.count == lines.count
            ? temporary.first ?? refused.first : temporary.first { !types.canReturn($0.productId) }
        return reason.map { .purchaseRefused($0.result) }
    }

    package static func response(to problem: Problem) -> Response {
        DoorErrors.response(
            json(of: problem),
            status: RevenueCatErrorRule.isPermanent(problem.code) ? .ok : .serviceUnavailable,
            retryAfter: problem.headers[.retryAfter])
    }
}
