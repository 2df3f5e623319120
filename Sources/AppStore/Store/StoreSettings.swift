import Catalog
import Foundation
import GRDB
import HTTPSupport
import Proofs

/// The store's settings for all accounts, as a StoreKit test session has them (StoreKitTest, `SKTestSession`).
package struct StoreSettings: Hashable, Sendable, Codable {
    package var timeRate: TimeRate
    /// The storefront of all customers, as ISO 3166-1 alpha-3.
    package var storefront: String
    package var locale: String
    /// True if payments wait for approval.
    package var isAskToBuyEnabled: Bool
    /// True if payments fail until the customer has resolved an issue outside the app.
    package var areInterruptedPurchasesEnabled: Bool
    /// True if renewals cannot be charged.
    package var shouldEnterBillingRetryOnRenewal: Bool
    /// True if a grace period follows a renewal that cannot be charged.
    package var isBillingGracePeriodEnabled: Bool
    /// The error of every payment; nil if payments succeed.
    package var failureError: Int?
    /// The simulated errors of StoreKit's calls (StoreKitTest, `setSimulatedError`).
    package var simulatedErrors: [StoreKitCall: StoreKitFailure]
    /// The address that notifications are sent to; nil if notifications are off.
    package var notificationsURL: URL?
    /// The `password` that `verifyReceipt` requires for receipts with subscriptions; nil accepts any.
    package var sharedSecret: String?
    /// The status that `verifyReceipt` always answers; nil for the real status.
    package var verifyReceiptStatus: Int64?
    /// The rate limit of the App Store Server API, in requests a minute; nil for no limit.
    package var serverAPIRequestsPerMinute: Int64?
    /// The number of the error that every call of the App Store Server API gets; nil for the real answers.
    package var serverAPIError: Int?
    /// The status of the store's certificates; nil for a good one.
    package var certificateStatus: CertificateStatus?
    /// App Review's decision on the retention messages; nil for approved ones.
    package var retentionMessageState: RetentionReviewState?
    /// The same on their images.
    package var retentionImageState: RetentionReviewState?

    /// The initial settings, from a configuration file.
    package init(_ configuration: StoreKitConfiguration) {
        let settings = configuration.settings
        timeRate = settings.timeRate
        storefront = configuration.storefront.countryCode
        locale = settings.locale
        isAskToBuyEnabled = settings.isAskToBuyEnabled
        areInterruptedPurchasesEnabled = settings.areInterruptedPurchasesEnabled
        shouldEnterBillingRetryOnRenewal = settings.shouldEnterBillingRetryOnRenewal
        isBillingGracePeriodEnabled = settings.isBillingGracePeriodEnabled
        failureError = settings.failureError?.rawValue
        simulatedErrors = settings.storeKitErrors
    }
}

/// The state of a retention message or an image that is not approved (Retention Messaging API, `messageState`, `imageState`).
package enum RetentionReviewState: String, Hashable, Sendable, Codable, CaseIterable {
    case pending = "PENDING"
    case rejected = "REJECTED"
}

/// The SQL statements on the clock and settings. They run inside the caller's transaction of the store's database.
package struct StateRecords {
    let database: Database

    /// The offset of the store's clock to the machine's, in milliseconds.
    func offset() throws -> Int64 {
        try value("clock offset").flatMap { Int64($0) } ?? 0
    }

    func setOffset(_ milliseconds: Int64) throws { try set("clock offset", String(milliseconds)) }

    /// The number of the last change of a sale that was deleted; 0 if none was.
    func lastChange() throws -> Int64 { try value("last change").flatMap { Int64($0) } ?? 0 }

    func setLastChange(_ number: Int64) throws { try set("last change", String(number)) }

    /// The changed settings; nil if nobody has changed them.
    func settings() throws -> StoreSettings? {
        try value("settings").map { try LocalRecord.value($0) }
    }

    func setSettings(_ settings: StoreSettings) throws { try set("settings", try LocalRecord.text(settings)) }

    /// The faults of the next notifications, one for each.
    package func faults() throws -> [NotificationFault] {
        try value("notification faults").map { try LocalRecord.value($0) } ?? []
    }

    func setFaults(_ faults: [NotificationFault]) throws {
        try set("notification faults", try LocalRecord.text(faults))
    }

    private func value(_ key: String) throws -> String? {
        try SQLRequest<String>("SELECT value FROM store_state WHERE key = \(key)").fetchOne(database)
    }

    private func set(_ key: String, _ value: String) throws {
        try database.insert(["key": key, "value": value], into: "store_state", replacing: "key")
    }
}

package struct ResetResult: Hashable, Codable, Sendable {
    /// The number of transactions sold, renewals included.
    package let sales: Int
    package let notifications: Int
    /// True if the clock was ahead of the machine's, or an account had its own.
    package let clock: Bool
    /// True if a setting, or a fault of the next notifications, differed from the configuration.
    package let settings: Bool
}

extension Store {
    package func settings() throws(StoreError) -> StoreSettings {
        try read(\.settings)
    }

    package func update(_ body: (inout StoreSettings) -> Void) throws(StoreError) -> StoreSettings {
        try write { books in
            // Events due before the change happened under the earlier settings.
            var settings = books.settings
            body(&settings)
            guard Storefront(countryCode: settings.storefront) != nil else {
                throw StoreError.storefrontNotFound(settings.storefront)
            }
            try books.state.setSettings(settings)
            return settings
        }
    }

    /// Clears the sales, the notifications, the families, the clocks and the settings. The keys, the products and the notification address
    /// stay.
    package func reset() throws(StoreError) -> ResetResult {
        try write { books in
            let state = books.state
            var initial = StoreSettings(configuration)
            initial.notificationsURL = books.settings.notificationsURL
            let cleared = ResetResult(
                sales: try books.count("app_store_transaction"), notifications: try books.count("notification"),
                clock: try state.offset() != 0 || books.clocks.latestTime() != nil,
                settings: try initial != books.settings || !state.faults().isEmpty)
            try books.clearSales()
            try books.families.clear()
            try state.setOffset(0)
            try books.clocks.clear()
            try state.setSettings(initial)
            try state.setFaults([])
            return cleared
        }
    }
}
