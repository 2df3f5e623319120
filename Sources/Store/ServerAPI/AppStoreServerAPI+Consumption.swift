import Commerce
import Foundation
import GRDB
import Receipts

/// What a developer says of a purchase whose refund a customer has asked for (`ConsumptionRequest`).
public struct ConsumptionRequest: Codable, Sendable {
    let customerConsented: Bool?
    /// In thousandths of a percent.
    let consumptionPercentage: Int?
    let deliveryStatus: String?
    let refundPreference: String?
    let sampleContentProvided: Bool?
}

/// The same as the first version of the endpoint took it (`ConsumptionRequestV1`).
public struct ConsumptionRequestV1: Codable, Sendable {
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
}

extension AppStoreServerAPI {
    /// `PUT /inApps/v2/transactions/consumption/{transactionId}`
    public func sendConsumptionInformation(_ transactionId: String, _ request: ConsumptionRequest) throws {
        guard request.customerConsented == true else { throw ServerAPIError.invalidCustomerConsented }
        guard request.sampleContentProvided != nil else { throw ServerAPIError.invalidSampleContentProvided }
        guard request.deliveryStatus.flatMap(DeliveryStatus.init(rawValue:)) != nil else {
            throw ServerAPIError.invalidDeliveryStatus
        }
        guard request.refundPreference.map({ RefundPreference(rawValue: $0) != nil }) ?? true,
            request.consumptionPercentage.map((0...100_000).contains) ?? true
        else { throw ServerAPIError.generalBadRequest }
        try write { books in
            let transaction = try books.apiTransaction(transactionId)
            guard transaction.type == .consumable || transaction.type == .autoRenewableSubscription else {
                throw ServerAPIError.invalidTransactionTypeNotSupported
            }
            guard transaction.ownership == .purchased else { throw ServerAPIError.familyTransactionNotSupported }
            try books.keepConsumption(try StoreRecord.text(request), of: transactionId)
        }
    }

    /// `PUT /inApps/v1/transactions/consumption/{transactionId}`
    public func sendConsumptionData(_ transactionId: String, _ request: ConsumptionRequestV1) throws {
        guard request.customerConsented == true else { throw ServerAPIError.invalidCustomerConsented }
        guard request.sampleContentProvided != nil else { throw ServerAPIError.invalidSampleContentProvided }
        let ranges: [(Int?, ClosedRange<Int>, ServerAPIError)] = [
            (request.consumptionStatus, 0...3, .invalidConsumptionStatus), (request.platform, 0...2, .invalidPlatform),
            (request.deliveryStatus, 0...5, .invalidDeliveryStatus),
            (request.accountTenure, 0...7, .invalidAccountTenure), (request.playTime, 0...7, .invalidPlayTime),
            (request.lifetimeDollarsRefunded, 0...7, .invalidLifetimeDollarsRefunded),
            (request.lifetimeDollarsPurchased, 0...7, .invalidLifetimeDollarsPurchased),
            (request.userStatus, 0...4, .invalidUserStatus), (request.refundPreference, 0...3, .generalBadRequest),
        ]
        for (value, range, error) in ranges {
            if let value, !range.contains(value) { throw error }
        }
        if let token = request.appAccountToken, !token.isEmpty, UUID(uuidString: token) == nil {
            throw ServerAPIError.invalidAppAccountToken
        }
        try write { books in
            let transaction = try books.apiTransaction(transactionId)
            guard transaction.type == .consumable || transaction.type == .autoRenewableSubscription else {
                throw ServerAPIError.invalidTransactionNotConsumable
            }
            try books.keepConsumption(try StoreRecord.text(request), of: transactionId)
        }
    }
}

extension Store {
    /// What the developer last said of a purchase whose refund was asked for, as JSON; nil before a word was said.
    public func consumption(of transactionIdentifier: String) throws(StoreError) -> String? {
        try read { books in
            _ = try books.sale(transactionIdentifier)
            return try String.fetchOne(
                books.database, sql: "SELECT record FROM consumption WHERE transaction_id = ?",
                arguments: [transactionIdentifier])
        }
    }
}

extension Books {
    fileprivate func keepConsumption(_ record: String, of transactionIdentifier: String) throws {
        try database.execute(
            sql: """
                INSERT INTO consumption (transaction_id, record) VALUES (?, ?)
                ON CONFLICT DO UPDATE SET record = excluded.record
                """,
            arguments: [transactionIdentifier, record])
    }
}
