/// The app and the environment that each part of a notification states.
protocol NotificationPart: Sendable {
    var environment: String { get }
    var appAppleId: Int64? { get }
    var bundleId: String? { get }
}

/// The part of a notification about one transaction (App Store Server Notifications V2, `data`).
public final class NotificationData: NotificationPart {
    public let environment: String
    public let appAppleId: Int64?
    public let bundleId: String?
    public let bundleVersion: String?
    /// A nested JWS.
    public let signedTransactionInfo: String?
    /// A nested JWS.
    public let signedRenewalInfo: String?
    public let status: OpenEnumeration<Status>?
    public let consumptionRequestReason: OpenEnumeration<ConsumptionRequestReason>?

    init(_ fields: PayloadFields) throws(PayloadError) {
        // Without its transaction or its renewal, a notification would be answered and lost.
        let fields = fields.deciding(["appAppleId", "bundleId", "signedTransactionInfo", "signedRenewalInfo"])
        environment = try fields.requiredString("environment")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        bundleVersion = try fields.string("bundleVersion")
        signedTransactionInfo = try fields.string("signedTransactionInfo")
        signedRenewalInfo = try fields.string("signedRenewalInfo")
        status = try fields.enumeration("status")
        consumptionRequestReason = try fields.enumeration("consumptionRequestReason")
    }
}

/// The part of a notification about an extension of many subscriptions (App Store Server Notifications V2, `summary`).
public final class Summary: NotificationPart {
    public let environment: String
    public let appAppleId: Int64?
    public let bundleId: String?
    public let productId: String?
    public let requestIdentifier: String?
    public let storefrontCountryCodes: [String]?
    public let succeededCount: Int64?
    public let failedCount: Int64?

    init(_ fields: PayloadFields) throws(PayloadError) {
        let fields = fields.deciding(["appAppleId", "bundleId"])
        environment = try fields.requiredString("environment")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        productId = try fields.string("productId")
        requestIdentifier = try fields.string("requestIdentifier")
        storefrontCountryCodes = try fields.strings("storefrontCountryCodes")
        succeededCount = try fields.integer("succeededCount")
        failedCount = try fields.integer("failedCount")
    }
}

/// The part of a notification about the app (App Store Server Notifications V2, `appData`).
public final class AppData: NotificationPart {
    public let environment: String
    public let appAppleId: Int64?
    public let bundleId: String?
    /// A nested JWS.
    public let signedAppTransactionInfo: String?

    init(_ fields: PayloadFields) throws(PayloadError) {
        let fields = fields.deciding(["appAppleId", "bundleId"])
        environment = try fields.requiredString("environment")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        signedAppTransactionInfo = try fields.string("signedAppTransactionInfo")
    }
}

/// The part of a notification about seats that the App Store has unclaimed (App Store Server Notifications V2, `unclaimInfo`).
///
/// The seats are claims of the app's server. Their members have no transactions.
public final class UnclaimInfo: NotificationPart {
    /// Production if it is not stated: Apple documents no environment here.
    public let environment: String
    public let appAppleId: Int64?
    public let bundleId: String?
    public let unclaimSeatIds: [String]?

    init(_ fields: PayloadFields) throws(PayloadError) {
        let fields = fields.deciding(["appAppleId", "bundleId", "environment"])
        environment = try fields.string("environment") ?? AppStoreEnvironment.production.rawValue
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        unclaimSeatIds = try fields.strings("unclaimSeatIds")
    }
}

/// The part of a notification about a purchase outside the App Store (App Store Server Notifications V2,
/// `externalPurchaseToken`).
public final class ExternalPurchaseToken: NotificationPart {
    /// The identifier. In the sandbox it begins with `SANDBOX`. No other field gives the environment.
    public let externalPurchaseId: String
    public var environment: String {
        (externalPurchaseId.hasPrefix("SANDBOX") ? AppStoreEnvironment.sandbox : .production).rawValue
    }
    public let tokenCreationDate: Int64?
    public let appAppleId: Int64?
    public let bundleId: String?

    init(_ fields: PayloadFields) throws(PayloadError) {
        let fields = fields.deciding(["appAppleId", "bundleId"])
        externalPurchaseId = try fields.requiredString("externalPurchaseId")
        tokenCreationDate = try fields.integer("tokenCreationDate")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
    }
}
