import Proofs

/// The consumption of a purchase whose refund a customer requests (App Store Server API, `ConsumptionRequest`).
package struct ConsumptionRequest: Codable, Sendable {
    let customerConsented: Bool?
    /// In thousandths of a percent.
    let consumptionPercentage: Int?
    let deliveryStatus: String?
    let refundPreference: String?
    let sampleContentProvided: Bool?

    /// - Throws: `ServerAPIError` for the first value that is missing or not allowed.
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

    /// - Throws: `ServerAPIError` if Apple does not accept this information about a transaction.
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
