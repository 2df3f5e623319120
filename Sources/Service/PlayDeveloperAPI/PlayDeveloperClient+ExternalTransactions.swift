import Proofs

/// External transactions: sales outside Google's billing, which the server reports.
extension PlayDeveloperClient {
    private static let maximumAnswerSize = 64 * 1024

    /// Reports a transaction (`externaltransactions.createexternaltransaction`).
    ///
    /// - Throws: `failed` with the status 409 if Google Play has a transaction with the identifier.
    package func report(
        externalTransaction identifier: String, _ body: JSONObject, within patience: Patience
    ) async throws(PlayDeveloperError) {
        _ = try await send(
            .POST, "externalTransactions", [("externalTransactionId", identifier)], body: body, isAboutToken: false,
            within: patience, upTo: Self.maximumAnswerSize)
    }

    /// Reports a refund (`externaltransactions.refundexternaltransaction`).
    package func refund(
        externalTransaction identifier: String, _ body: JSONObject, within patience: Patience
    ) async throws(PlayDeveloperError) {
        _ = try await send(
            .POST, "externalTransactions/\(escaped(identifier)):refund", body: body, isAboutToken: false,
            within: patience, upTo: Self.maximumAnswerSize)
    }

    /// The amounts of an external transaction at Google Play after refunds.
    package struct ExternalTransactionState: Sendable {
        package let isCanceled: Bool
        /// The amount before tax that is left, in millionths; nil if the answer has none.
        package let preTaxMicros: Int64?
    }

    /// Asks for a transaction (`externaltransactions.getexternaltransaction`).
    package func externalTransaction(
        _ identifier: String, within patience: Patience = .schedule
    ) async throws(PlayDeveloperError) -> ExternalTransactionState {
        let bytes = try await send(
            .GET, "externalTransactions/\(escaped(identifier))", isAboutToken: false, within: patience,
            upTo: Self.maximumAnswerSize)
        guard case .object(let answer)? = try? JSONParser.parse(bytes) else { throw .answerInvalid(reason: nil) }
        var micros: Int64?
        if case .object(let amount)? = answer["currentPreTaxAmount"], let text = amount.text("priceMicros") {
            micros = Int64(text)
        }
        return ExternalTransactionState(
            isCanceled: answer["transactionState"] == "TRANSACTION_CANCELED", preTaxMicros: micros)
    }
}
