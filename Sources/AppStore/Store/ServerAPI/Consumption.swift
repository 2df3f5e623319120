import Foundation
import GRDB
import HTTPSupport
import Proofs

extension Books {
    /// `PUT /inApps/v2/transactions/consumption/{transactionId}`, and the same of v1.
    func sendConsumption(_ transactionId: String, _ request: some ConsumptionInformation) throws {
        try request.validate()
        try request.validate(for: try apiTransaction(transactionId))
        try database.insert(
            ["transaction_id": transactionId, "record": try LocalRecord.text(request)], into: "consumption",
            replacing: "transaction_id")
    }

    /// The developer's last consumption information about a purchase, as JSON; nil if there is none.
    package func consumption(of transactionIdentifier: String) throws -> String? {
        _ = try sale(transactionIdentifier)
        return try SQLRequest<String>(
            "SELECT record FROM consumption WHERE transaction_id = \(transactionIdentifier)"
        ).fetchOne(database)
    }

    /// The `consumptionPercentage` of the same information; nil if it has none.
    func consumedPercentage(of transactionIdentifier: String) throws -> Int? {
        try SQLRequest<Int>(
            "SELECT json_extract(record, '$.consumptionPercentage') FROM consumption WHERE transaction_id = \(transactionIdentifier)"
        ).fetchOne(database)
    }
}

/// The consumption of a purchase, in one of the endpoint's two versions.
protocol ConsumptionInformation: Codable, Sendable {
    /// - Throws: `ServerAPIError` for the first value that is missing or not allowed.
    func validate() throws(ServerAPIError)

    /// - Throws: `ServerAPIError` if Apple does not accept this information about a transaction.
    func validate(for transaction: Transaction) throws(ServerAPIError)
}

/// The consumption of a purchase whose refund a customer requests (App Store Server API, `ConsumptionRequest`).
package struct ConsumptionRequest: ConsumptionInformation {
    let customerConsented: Bool?
    /// In thousandths of a percent.
    let consumptionPercentage: Int?
    let deliveryStatus: String?
    let refundPreference: String?
    let sampleContentProvided: Bool?

    package func validate() throws(ServerAPIError) {
        guard customerConsented == true else { throw .invalidCustomerConsented }
        guard sampleContentProvided != nil else { throw .invalidSampleContentProvided }
        guard let status = deliveryStatus.flatMap(DeliveryStatus.init(rawValue:)) else { throw .invalidDeliveryStatus }
        guard refundPreference.map({ RefundPreference(rawValue: $0) != nil }) ?? true else {
            throw .invalidRefundPreference
        }
        // Apple does not publish the numbers of these errors.
        guard consumptionPercentage.map((status == .delivered ? 0...100_000 : 0...0).contains) ?? true else {
            throw .generalBadRequest
        }
    }

    package func validate(for transaction: Transaction) throws(ServerAPIError) {
        guard transaction.ownership == .purchased else { throw .familyTransactionNotSupported }
        if transaction.type == .autoRenewableSubscription {
            // Apple computes it from the time that has passed.
            guard consumptionPercentage == nil else { throw .consumptionPercentageAutoRenewableSubscription }
        } else if refundPreference.flatMap(RefundPreference.init) == .grantProrated {
            guard consumptionPercentage.map((1..<100_000).contains) ?? false else { throw .generalBadRequest }
        }
    }
}

/// The consumption of a purchase, for the endpoint's first version (App Store Server API, `ConsumptionRequestV1`).
package struct ConsumptionRequestV1: ConsumptionInformation {
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
