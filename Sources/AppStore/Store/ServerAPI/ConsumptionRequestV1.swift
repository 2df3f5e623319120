import Foundation

/// The consumption of a purchase, for the endpoint's first version (App Store Server API, `ConsumptionRequestV1`).
package struct ConsumptionRequestV1: Codable, Sendable {
    let customerConsented: Bool?
    let consumptionStatus: Int?
    let platform: Int?
    let sampleContentProvided: Bool?
    let deliveryStatus: Int?
    let appAccountToken: String?
    let accountTenure: Int?
    let playTime: Int?
    let lifetimeDollarsRefunded: Int?
    let lifetimeDollarsPurchased: Int?
    let userStatus: Int?
    let refundPreference: Int?

    /// - Throws: `ServerAPIError` for the first value that is missing or out of range.
    package func validate() throws(ServerAPIError) {
        guard customerConsented == true else { throw .invalidCustomerConsented }
        guard sampleContentProvided != nil else { throw .invalidSampleContentProvided }
        let ranges: [(Int?, ClosedRange<Int>, ServerAPIError)] = [
            (consumptionStatus, 0...3, .invalidConsumptionStatus), (platform, 0...2, .invalidPlatform),
            (deliveryStatus, 0...5, .invalidDeliveryStatus), (accountTenure, 0...7, .invalidAccountTenure),
            (playTime, 0...7, .invalidPlayTime), (lifetimeDollarsRefunded, 0...7, .invalidLifetimeDollarsRefunded),
            (lifetimeDollarsPurchased, 0...7, .invalidLifetimeDollarsPurchased),
            (userStatus, 0...4, .invalidUserStatus), (refundPreference ?? 0, 0...3, .invalidRefundPreference),
        ]
        for (value, range, error) in ranges {
            guard let value, range.contains(value) else { throw error }
        }
        guard let token = appAccountToken, token.isEmpty || UUID(uuidString: token) != nil else {
            throw .invalidAppAccountToken
        }
    }

    /// - Throws: `ServerAPIError` if Apple does not ask for the consumption of such a transaction.
    package func validate(for transaction: Transaction) throws(ServerAPIError) {
        guard transaction.type == .consumable || transaction.type == .autoRenewableSubscription else {
            throw .invalidTransactionTypeNotSupported
        }
    }
}
