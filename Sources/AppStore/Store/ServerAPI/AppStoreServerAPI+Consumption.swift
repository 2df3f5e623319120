import Foundation
import GRDB
import Proofs

extension AppStoreServerAPI {
    /// `PUT /inApps/v2/transactions/consumption/{transactionId}`
    func sendConsumptionInformation(_ transactionId: String, _ request: ConsumptionRequest) throws {
        try request.validate()
        try write { books in
            try request.validate(for: try books.apiTransaction(transactionId))
            try books.keepConsumption(try StoreRecord.text(request), of: transactionId)
        }
    }

    /// `PUT /inApps/v1/transactions/consumption/{transactionId}`
    func sendConsumptionData(_ transactionId: String, _ request: ConsumptionRequestV1) throws {
        try request.validate()
        try write { books in
            try request.validate(for: try books.apiTransaction(transactionId))
            try books.keepConsumption(try StoreRecord.text(request), of: transactionId)
        }
    }
}

extension Store {
    /// The developer's last consumption information about a purchase, as JSON; nil if there is none.
    package func consumption(of transactionIdentifier: String) throws(StoreError) -> String? {
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
