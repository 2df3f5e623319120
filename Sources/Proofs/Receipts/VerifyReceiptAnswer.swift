import Foundation

/// The answer of Apple's verifyReceipt endpoint about an app receipt: a status and the `receipt` object (Apple,
/// "verifyReceipt", `responseBody`). The data that Apple adds from its own records is absent.
public struct VerifyReceiptAnswer: Sendable {
    /// The status codes that depend only on the receipt (Apple, "status").
    public enum Status: Int64, Sendable {
        case valid = 0
        case malformed = 21002
        case notAuthenticated = 21003
        case sandboxReceiptSentToProduction = 21007
        case productionReceiptSentToSandbox = 21008
        case internalDataAccessError = 21009
    }

    /// The status. Nil if the number is not about the receipt.
    public let status: Status?
    /// The whole answer. If the receipt is not valid, only the status.
    public let json: JSONValue

    /// - Parameters:
    ///   - proof: The value of `receipt-data`.
    ///   - environment: The environment of the server. Nil accepts both production and sandbox receipts.
    public init(to proof: [UInt8], environment: AppStoreEnvironment?, verifier: ProofVerifier, requestDate: Timestamp) {
        do throws(ProofRefusal) {
            let verified = try verifier.verify(
                proof, expecting: ProofExpectations(environment: environment, origins: Set(Origin.allCases)))
            guard case .appReceipt(let receipt) = verified.content else { throw ProofRefusal(.encodingInvalid) }
            guard let object = ReceiptObject(receipt, requestDate: requestDate) else {
                self.init(.internalDataAccessError)
                return
            }
            self.init(
                .valid, [("environment", .string(verified.environment.rawValue)), ("receipt", .object(object.members))])
        } catch {
            self.init(Self.status(for: error, environment: environment))
        }
    }

    private init(_ status: Status, _ members: [(String, JSONValue)] = []) {
        self.init(number: status.rawValue, members)
    }

    private init(number: Int64, _ members: [(String, JSONValue)]) {
        status = Status(rawValue: number)
        var object: JSONObject = ["status": .integer(number)]
        for (key, value) in members { _ = object.add(key, value) }
        json = .object(object)
    }

    /// Creates the answer of any other status. For its own faults, Apple also states if a retry may succeed.
    public init(statusNumber: Int64, environment: AppStoreEnvironment) {
        var members: [(String, JSONValue)] = []
        if statusNumber == 21009 || statusNumber == 21010 || (21100...21199).contains(statusNumber) {
            members = [("environment", .string(environment.rawValue)), ("is_retryable", .bool(statusNumber != 21010))]
        }
        self.init(number: statusNumber, members)
    }

    package func adding(_ members: [(String, JSONValue)]) -> VerifyReceiptAnswer {
        guard case .object(let object) = json, let status else { return self }
        return VerifyReceiptAnswer(status, object.members.dropFirst().map { ($0.key, $0.value) } + members)
    }

    /// The answer with a text in each purchase of `in_app`.
    ///
    /// - Parameter text: The text, by the identifier of the transaction; nil for none.
    package func adding(
        _ name: String, toPurchases text: (_ transactionIdentifier: String) throws -> String?
    ) rethrows -> VerifyReceiptAnswer {
        guard let status, case .object(let answer) = json, case .object(let receipt)? = answer["receipt"],
            case .array(let purchases)? = receipt["in_app"]
        else { return self }
        let stated = try purchases.map { purchase in
            guard case .object(var members) = purchase, case .string(let identifier)? = members["transaction_id"],
                let value = try text(identifier)
            else { return purchase }
            _ = members.add(name, .string(value))
            return .object(members)
        }
        let changed = receipt.replacing("in_app", with: .array(stated))
        let members = answer.replacing("receipt", with: .object(changed)).members.dropFirst()
        return VerifyReceiptAnswer(status, members.map { ($0.key, $0.value) })
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

extension JSONObject {
    /// The object with another value of a member, in its place.
    fileprivate func replacing(_ key: String, with value: JSONValue) -> JSONObject {
        var object = JSONObject()
        for member in members { _ = object.add(member.key, member.key == key ? value : member.value) }
        return object
    }
}

/// An object of the answer of verifyReceipt. Its members are in Apple's order.
package struct ReceiptObject {
    package private(set) var members = JSONObject()
    private let losAngeles: TimeZone

    /// An object without members.
    ///
    /// - Returns: Nil if the system does not know the time zone of Los Angeles.
    package init?() {
        guard let losAngeles = TimeZone(identifier: "America/Los_Angeles") else { return nil }
        self.losAngeles = losAngeles
    }

    /// The `receipt` object.
    init?(_ receipt: AppReceipt, requestDate: Timestamp) {
        self.init()
        add("receipt_type", .string(receipt.receiptType))
        add("adam_id", receipt.appItemID.map { .integer($0) })
        add("app_item_id", receipt.appItemID.map { .integer($0) })
        add("bundle_id", .string(receipt.bundleIdentifier))
        add("application_version", .string(receipt.applicationVersion))
        add("download_id", receipt.downloadID.map { .integer($0) })
        add("version_external_identifier", receipt.versionExternalIdentifier.map { .integer($0) })
        add("receipt_creation_date", receipt.creationDate)
        add("request_date", requestDate)
        add("original_purchase_date", receipt.originalPurchaseDate)
        add("original_application_version", receipt.originalApplicationVersion.map { .string($0) })
        add("expiration_date", receipt.expirationDate)
        add("in_app", .array(receipt.inAppPurchases.map { .object(Self($0, losAngeles: losAngeles).members) }))
    }

    private init(_ purchase: InAppPurchase, losAngeles: TimeZone) {
        self.losAngeles = losAngeles
        add("quantity", .string(String(purchase.quantity)))
        add("product_id", .string(purchase.productIdentifier))
        add("transaction_id", .string(purchase.transactionIdentifier))
        add("original_transaction_id", purchase.originalTransactionIdentifier.map { .string($0) })
        add("purchase_date", purchase.purchaseDate)
        add("original_purchase_date", purchase.originalPurchaseDate)
        add("expires_date", purchase.expiresDate)
        if let identifier = purchase.webOrderLineItemID, identifier != 0 {
            add("web_order_line_item_id", .string(String(identifier)))
        }
        add("is_trial_period", purchase.isTrialPeriod.map { .string(String($0)) })
        add("is_in_intro_offer_period", purchase.isInIntroductoryOfferPeriod.map { .string(String($0)) })
        add("cancellation_date", purchase.cancellationDate)
        if let identifier = purchase.promotionalOfferIdentifier, !identifier.isEmpty {
            add("promotional_offer_id", .string(identifier))
        }
    }

    package mutating func add(_ key: String, _ value: JSONValue?) {
        if let value { _ = members.add(key, value) }
    }

    /// Adds the three forms of a date: in Greenwich Mean Time, in milliseconds since 1970 as a string, and in Pacific
    /// time. The key of the last ends in `_pst`, but the value observes daylight saving time.
    package mutating func add(_ key: String, _ date: Timestamp?) {
        guard let date else { return }
        let seconds = date.secondsSince1970
        let offset = losAngeles.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        add(key, .string("\(Self.text(date)) Etc/GMT"))
        add(key + "_ms", .string(String(date.millisecondsSince1970)))
        let local = Timestamp(secondsSince1970: seconds + Int64(offset))
        add(key + "_pst", .string("\(Self.text(local)) America/Los_Angeles"))
    }

    private static func text(_ date: Timestamp) -> String {
        String(date.rfc3339.dropLast().replacing("T", with: " "))
    }
}
