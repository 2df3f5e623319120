import Foundation

/// A store's statement about an account's purchase of the app (StoreKit, `AppTransaction`).
public struct AppTransactionStatement: Sendable {
    private let bundleIdentifier: String
    private let appAppleIdentifier: Int64?
    private let environment: AppStoreEnvironment
    private let appTransactionIdentifier: String

    /// - Parameter appAppleIdentifier: The app's Apple ID, or nil in the sandbox.
    public init(
        bundleIdentifier: String,
        appAppleIdentifier: Int64?,
        environment: AppStoreEnvironment,
        appTransactionIdentifier: String
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.appAppleIdentifier = appAppleIdentifier
        self.environment = environment
        self.appTransactionIdentifier = appTransactionIdentifier
    }

    /// Returns the statement. Every app in Apple's sandbox has this version, platform and original purchase date.
    public func statement(at signedDate: Timestamp) -> SignedStatement {
        var fields = StatementFields()
        fields.set("receiptType", environment)
        fields.set("appAppleId", appAppleIdentifier)
        fields.set("bundleId", bundleIdentifier)
        fields.set("applicationVersion", "1")
        fields.set("versionExternalIdentifier", 0)
        fields.set("receiptCreationDate", signedDate)
        fields.set("originalPurchaseDate", Timestamp(rfc3339: "2013-08-01T07:00:00Z"))
        fields.set("originalApplicationVersion", "1.0")
        fields.set("appTransactionId", appTransactionIdentifier)
        fields.set("originalPlatform", PurchasePlatform.iOS)
        return SignedStatement(fields: fields.object)
    }
}

/// A store's unsigned statement: the fields of one of Apple's payloads.
public struct SignedStatement: Sendable {
    let fields: JSONObject

    /// Signs the statement and returns the JWS in compact form.
    ///
    /// - Parameter chain: The certificates, from the signer's to the root.
    public func signed(with key: PrivateKey, chain: [Certificate]) throws -> String {
        try SignedJSON.sign(.object(fields), with: key, chain: chain)
    }
}

/// The fields of a payload that a store writes. Absent values are omitted, never null.
struct StatementFields {
    private(set) var object = JSONObject()

    mutating func set(_ key: String, _ value: JSONValue?) {
        if let value { _ = object.add(key, value) }
    }

    mutating func set(_ key: String, _ value: String?) { set(key, value.map { .string($0) }) }
    mutating func set(_ key: String, _ value: Bool?) { set(key, value.map { .bool($0) }) }
    mutating func set(_ key: String, _ value: (some BinaryInteger)?) { set(key, value.map { .integer($0) }) }
    /// Sets a date in milliseconds since 1970.
    mutating func set(_ key: String, _ value: Timestamp?) { set(key, value?.millisecondsSince1970) }
    /// Sets a UUID in lowercase.
    mutating func set(_ key: String, _ value: UUID?) { set(key, value?.uuidString.lowercased()) }

    mutating func set<Value: RawRepresentable>(_ key: String, _ value: Value?) where Value.RawValue == String {
        set(key, value?.rawValue)
    }

    mutating func set<Value: RawRepresentable>(_ key: String, _ value: Value?) where Value.RawValue == Int {
        set(key, value?.rawValue)
    }
}

/// The offer of a purchase.
public struct OfferStatement: Sendable {
    private let kind: SubscriptionOffer.Kind
    private let identifier: String?
    private let paymentMode: SubscriptionOffer.PaymentMode
    private let period: SubscriptionPeriod

    public init(
        kind: SubscriptionOffer.Kind,
        identifier: String?,
        paymentMode: SubscriptionOffer.PaymentMode,
        period: SubscriptionPeriod
    ) {
        self.kind = kind
        self.identifier = identifier
        self.paymentMode = paymentMode
        self.period = period
    }

    func write(to fields: inout StatementFields) {
        fields.set("offerType", kind)
        fields.set("offerIdentifier", identifier)
        fields.set("offerDiscountType", discountType)
        fields.set("offerPeriod", period.description)
    }

    var isTrial: Bool { paymentMode == .freeTrial }
    var isIntroductoryPrice: Bool { kind == .introductory && !isTrial }
    var promotionalOfferIdentifier: String? { kind == .promotional ? identifier : nil }
    var offerCodeReferenceName: String? { kind == .offerCode ? identifier : nil }

    private var discountType: OfferDiscountType {
        switch paymentMode {
        case .freeTrial: .freeTrial
        case .payAsYouGo: .payAsYouGo
        case .payUpFront: .payUpFront
        }
    }
}
