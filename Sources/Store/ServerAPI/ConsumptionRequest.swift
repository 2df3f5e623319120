import Commerce
import Receipts

/// The consumption of a purchase whose refund a customer requests (App Store Server API, `ConsumptionRequest`).
public struct ConsumptionRequest: Codable, Sendable {
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
        guard deliveryStatus.flatMap(DeliveryStatus.init(rawValue:)) != nil else { throw .invalidDeliveryStatus }
        guard refundPreference.map({ RefundPreference(rawValue: $0) != nil }) ?? true,
            consumptionPercentage.map((0...100_000).contains) ?? true
        else { throw .generalBadRequest }
    }

    /// - Throws: `ServerAPIError` if Apple does not ask for the consumption of such a transaction.
    package func validate(for transaction: Transaction) throws(ServerAPIError) {
        guard transaction.type.hasConsumption else { throw .invalidTransactionTypeNotSupported }
        guard transaction.ownership == .purchased else { throw .familyTransactionNotSupported }
    }
}
