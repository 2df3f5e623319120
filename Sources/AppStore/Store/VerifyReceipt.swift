import Foundation
import Proofs

/// A request to verifyReceipt (Apple, "requestBody").
package struct VerifyReceiptRequest: Decodable, Sendable {
    let receiptData: String?
    let password: String?
    let excludeOldTransactions: Bool?

    private enum CodingKeys: String, CodingKey {
        case receiptData = "receipt-data"
        case password
        case excludeOldTransactions = "exclude-old-transactions"
    }

    /// A value of another type counts as missing: Apple has a status of its own for each.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        receiptData = try? container.decode(String.self, forKey: .receiptData)
        password = try? container.decode(String.self, forKey: .password)
        excludeOldTransactions = try? container.decode(Bool.self, forKey: .excludeOldTransactions)
    }
}

extension Store {
    /// `POST /verifyReceipt`: the contents of the receipt, and the present state of its subscriptions.
    ///
    /// - Parameters:
    /// - request: Nil if the request could not be read.
    /// - environment: The environment of the request. Production rejects sandbox receipts, and the sandbox production receipts.
    package func verifyReceipt(
        _ request: VerifyReceiptRequest?,
        environment: AppStoreEnvironment
    ) throws(StoreError) -> VerifyReceiptAnswer {
        if let number = try settings().verifyReceiptStatus {
            return VerifyReceiptAnswer(statusNumber: number, environment: environment)
        }
        guard let request else { return VerifyReceiptAnswer(statusNumber: 21000, environment: environment) }
        guard let receiptData = request.receiptData else {
            return VerifyReceiptAnswer(statusNumber: 21002, environment: environment)
        }
        let proof = Array(receiptData.utf8)
        let verifier: ProofVerifier
        do {
            verifier = ProofVerifier(
                anchors: try TrustAnchors(rootCertificates.compactMap { try TrustAnchor($0) }), clock: clock)
        } catch { throw .signingFailed("\(error)") }
        let answer = VerifyReceiptAnswer(
            to: proof, environment: environment, verifier: verifier, requestDate: now)
        guard answer.status == .valid,
            let purchases = try? verifier.verify(proof, expecting: ProofExpectations(origins: Set(Origin.allCases)))
                .purchases
        else { return answer }
        return try read { books in
            guard
                let known = try purchases.lazy.compactMap({
                    try books.transactions.transaction($0.transactionIdentifier)
                })
                .first
            else { return answer }
            return try books.addSubscriptions(to: answer, account: known.account, request, environment: environment)
        }
    }
}

extension Books {
    fileprivate func addSubscriptions(
        to answer: VerifyReceiptAnswer,
        account: String,
        _ request: VerifyReceiptRequest,
        environment: AppStoreEnvironment
    ) throws -> VerifyReceiptAnswer {
        let known = try subscriptions.subscriptions(of: account)
        guard !known.isEmpty else { return answer }
        if let secret = settings.sharedSecret, request.password != secret {
            return VerifyReceiptAnswer(statusNumber: 21004, environment: environment)
        }
        var sold: [Transaction] = []
        for subscription in known {
            let periods = try transactions.transactions(original: subscription.originalTransactionIdentifier)
            sold += request.excludeOldTransactions == true ? periods.suffix(1) : periods
        }
        // The latest first, as in Apple's answers.
        sold.sort { $0.purchaseDate > $1.purchaseDate }
        let latest = try issuer.receipt(over: try receiptTransactions(of: account), account: account, at: now)
        return answer.adding(
            latestReceipt: latest, transactions: try sold.map(issuer.statement),
            renewals: known.map { issuer.statement($0, terms) })
            ?? VerifyReceiptAnswer(statusNumber: 21009, environment: environment)
    }
}
