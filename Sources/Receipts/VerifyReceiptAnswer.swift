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

    public let status: Status
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
        self.status = status
        var object: JSONObject = ["status": .integer(status.rawValue)]
        for (key, value) in members { _ = object.add(key, value) }
        json = .object(object)
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

/// The `receipt` object, member by member in Apple's order.
private struct ReceiptObject {
    private(set) var members = JSONObject()
    private let losAngeles: TimeZone

    /// - Returns: nil when this machine does not know the time in Los Angeles.
    init?(_ receipt: AppReceipt, requestDate: Timestamp) {
        guard let losAngeles = TimeZone(identifier: "America/Los_Angeles") else { return nil }
        self.losAngeles = losAngeles
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

    private mutating func add(_ key: String, _ value: JSONValue?) {
        if let value { _ = members.add(key, value) }
    }

    /// The three forms of a date: in Greenwich, in milliseconds since 1970 as text, and in California, where summer time is
    /// kept whatever the key's name says.
    private mutating func add(_ key: String, _ date: Timestamp?) {
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
