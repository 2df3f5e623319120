import Commerce
import Foundation
import StrictJSON

/// What Apple's verifyReceipt answers about an app receipt: a status, and the `receipt` object that Apple builds from the
/// receipt's bytes (Apple, "verifyReceipt", `responseBody`). What Apple adds from its own records is not in it.
public struct VerifyReceiptAnswer: Sendable {
    /// The status codes that depend on the receipt alone (Apple, "status").
    public enum Status: Int64, Sendable {
        case valid = 0
        case malformed = 21002
        case notAuthenticated = 21003
        case sandboxReceiptSentToProduction = 21007
        case productionReceiptSentToSandbox = 21008
        case internalDataAccessError = 21009
    }

    /// nil for a number that says nothing of the receipt.
    public let status: Status?
    /// The whole answer; of anything but a valid receipt, the status alone.
    public let json: JSONValue

    /// - Parameters:
    ///   - proof: What was sent as `receipt-data`.
    ///   - environment: The server that is asked, production or sandbox; nil for the one that fits the receipt.
    ///   - requestDate: When it is asked.
    public init(
        to proof: [UInt8],
        environment: AppStoreEnvironment?,
        verifier: ProofVerifier,
        requestDate: Timestamp
    ) {
        do throws(ProofRefusal) {
            let verified = try verifier.verify(
                proof, expecting: ProofExpectations(environment: environment, origins: Set(Origin.allCases)))
            guard case .appReceipt(let receipt) = verified.content else { throw ProofRefusal(.encodingInvalid) }
            guard let object = ReceiptObject(receipt, requestDate: requestDate) else {
                self.init(status: .internalDataAccessError)
                return
            }
            self.init(
                status: .valid,
                adding: [("environment", .string(verified.environment.rawValue)), ("receipt", .object(object.members))])
        } catch {
            self.init(status: Self.status(for: error, environment: environment))
        }
    }

    private init(status: Status, adding members: [(String, JSONValue)] = []) {
        self.init(number: status.rawValue, status: status, adding: members)
    }

    private init(number: Int64, status: Status?, adding members: [(String, JSONValue)]) {
        self.status = status
        var object: JSONObject = ["status": .integer(number)]
        for (key, value) in members { _ = object.add(key, value) }
        json = .object(object)
    }

    /// Any other status; those that Apple has for its own faults say whether trying again may help.
    public init(statusNumber: Int64, environment: AppStoreEnvironment) {
        var members: [(String, JSONValue)] = []
        if statusNumber == 21009 || statusNumber == 21010 || (21100...21199).contains(statusNumber) {
            members = [
                ("environment", .string(environment.rawValue)), ("is_retryable", .bool(statusNumber != 21010)),
            ]
        }
        self.init(number: statusNumber, status: Status(rawValue: statusNumber), adding: members)
    }

    /// The same answer with what the store knows of an account's subscriptions (Apple, "responseBody":
    /// `latest_receipt_info`, `latest_receipt`, `pending_renewal_info`).
    ///
    /// - Returns: nil when this machine does not know the time in Los Angeles.
    public func adding(
        latestReceipt: String,
        transactions: [TransactionStatement],
        renewals: [RenewalInfoStatement]
    ) -> VerifyReceiptAnswer? {
        guard case .object(let object) = json, let status else { return self }
        var members = object.members.dropFirst().map { ($0.key, $0.value) }
        guard let losAngeles = TimeZone(identifier: "America/Los_Angeles") else { return nil }
        members.append(
            (
                "latest_receipt_info",
                .array(transactions.map { .object(ReceiptObject(latest: $0, losAngeles: losAngeles).members) })
            ))
        members.append(("latest_receipt", .string(latestReceipt)))
        members.append(
            (
                "pending_renewal_info",
                .array(renewals.map { .object(ReceiptObject(pending: $0, losAngeles: losAngeles).members) })
            ))
        return VerifyReceiptAnswer(status: status, adding: members)
    }

    private static func status(for refusal: ProofRefusal, environment: AppStoreEnvironment?) -> Status {
        if refusal.reason == .environmentMismatch {
            return environment == .production ? .sandboxReceiptSentToProduction : .productionReceiptSentToSandbox
        }
        switch refusal.reason.step {
        case .size, .encoding, .container, .payload: return .malformed
        case .chain, .extensions, .signature, .appAndOrigin, .revocation: return .notAuthenticated
        }
    }
}
