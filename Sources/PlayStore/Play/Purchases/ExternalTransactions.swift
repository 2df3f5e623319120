import GRDB
import HTTPSupport
import Proofs

/// A reported external transaction, and the refunds of it.
struct ReportedTransaction: Codable {
    private(set) var transaction: ExternalTransaction
    /// The identifiers of partial refunds, which are not repeated.
    private(set) var refundIds: [String] = []
    /// The program in which it was made; nil if nothing tells it.
    let program: BillingProgram?

    /// Reports a transaction.
    ///
    /// - Throws: `PublisherError`, `required` or `invalidValue`, with the path of the field.
    init(
        _ report: ExternalTransaction, identifier: String, of packageName: String, in program: BillingProgram?,
        at now: Timestamp
    ) throws(PublisherError) {
        if let program { try report.check(in: program) }
        self.program = program
        var transaction = report
        (transaction.packageName, transaction.externalTransactionId) = (packageName, identifier)
        (transaction.createTime, transaction.transactionState) = (DateTimeText(moment: now), .reported)
        transaction.currentPreTaxAmount = report.originalPreTaxAmount
        transaction.currentTaxAmount = report.originalTaxAmount
        self.transaction = transaction
    }

    /// Refunds all that is left, or a part of it. The tax of a part is refunded in proportion.
    ///
    /// - Throws: `PublisherError`, also for a transaction that is canceled.
    mutating func refund(_ request: ExternalRefund, at now: Timestamp) throws(PublisherError) {
        guard transaction.transactionState == .reported else {
            throw .failedPrecondition("The external transaction is canceled.")
        }
        guard let time = request.refundTime else { throw .required("refundTime") }
        guard let sold = transaction.transactionTime, sold.moment <= time.moment, time.moment <= now else {
            throw .invalidValue("refundTime", "it is after transactionTime, and not in the future.")
        }
        try CatalogCheck.one(
            of: [request.fullRefund != nil, request.partialRefund != nil], "fullRefund",
            "it needs either fullRefund or partialRefund.")
        let (left, tax) = (
            transaction.currentPreTaxAmount?.priceMicros?.value ?? 0,
            transaction.currentTaxAmount?.priceMicros?.value ?? 0
        )
        let currency = transaction.originalPreTaxAmount?.currency
        guard let partial = request.partialRefund else {
            transaction.transactionState = .canceled
            transaction.currentPreTaxAmount = .init(currency: currency, micros: 0)
            transaction.currentTaxAmount = .init(currency: currency, micros: 0)
            return
        }
        guard let refundId = partial.refundId, !refundId.isEmpty else { throw .required("partialRefund.refundId") }
        guard !refundIds.contains(where: { $0.hasSameBytes(as: refundId) }) else {
            throw .invalidValue("partialRefund.refundId", "the transaction has a refund with this identifier.")
        }
        let amount = try partial.refundPreTaxAmount.checked("partialRefund.refundPreTaxAmount")
        guard amount > 0, amount < left, partial.refundPreTaxAmount?.currency == currency else {
            throw .invalidValue(
                "partialRefund.refundPreTaxAmount", "more than 0, and less than what is left, in the same currency.")
        }
        refundIds.append(refundId)
        let taxPart = Int64((Double(tax) * Double(amount) / Double(left)).rounded())
        transaction.currentPreTaxAmount = .init(currency: currency, micros: left - amount)
        transaction.currentTaxAmount = .init(currency: currency, micros: tax - taxPart)
    }

    /// The transaction as answers have it, without what is sent alone.
    var answer: ExternalTransaction {
        var answer = transaction
        answer.oneTimeTransaction?.externalTransactionToken = nil
        answer.recurringTransaction?.externalTransactionToken = nil
        answer.recurringTransaction?.migratedTransactionProgram = nil
        return answer
    }
}

extension ExternalTransaction {
    static let appDownload = "LINK_TO_APP_DOWNLOAD"
    private static let linkTypes = ["LINK_TO_DIGITAL_CONTENT_OFFER", appDownload]
    private static let subscriptionTypes = ["RECURRING", "PREPAID"]
    private static let migratedPrograms = ["USER_CHOICE_BILLING", "ALTERNATIVE_BILLING_ONLY"]
    /// The states of India in the form that Google takes.
    private static let indianStates: Set = [
        "ANDAMAN AND NICOBAR ISLANDS", "ANDHRA PRADESH", "ARUNACHAL PRADESH", "ASSAM", "BIHAR", "CHANDIGARH",
        "CHHATTISGARH", "DADRA AND NAGAR HAVELI", "DADRA AND NAGAR HAVELI AND DAMAN AND DIU", "DAMAN AND DIU", "DELHI",
        "GOA", "GUJARAT", "HARYANA", "HIMACHAL PRADESH", "JAMMU AND KASHMIR", "JHARKHAND", "KARNATAKA", "KERALA",
        "LADAKH", "LAKSHADWEEP", "MADHYA PRADESH", "MAHARASHTRA", "MANIPUR", "MEGHALAYA", "MIZORAM", "NAGALAND",
        "ODISHA", "PUDUCHERRY", "PUNJAB", "RAJASTHAN", "SIKKIM", "TAMIL NADU", "TELANGANA", "TRIPURA", "UTTAR PRADESH",
        "UTTARAKHAND", "WEST BENGAL",
    ]

    /// Checks the form of a report.
    fileprivate func check(at now: Timestamp) throws(PublisherError) {
        guard let transactionTime else { throw .required("transactionTime") }
        guard transactionTime.moment <= now else { throw .invalidValue("transactionTime", "it is in the future.") }
        _ = try originalPreTaxAmount.checked("originalPreTaxAmount")
        _ = try originalTaxAmount.checked("originalTaxAmount")
        guard originalPreTaxAmount?.currency == originalTaxAmount?.currency else {
            throw .invalidValue("originalTaxAmount", "it has the currency of originalPreTaxAmount.")
        }
        guard let userTaxAddress else { throw .required("userTaxAddress") }
        try CatalogCheck.region(userTaxAddress.regionCode, "userTaxAddress.regionCode")
        if userTaxAddress.regionCode == "IN" {
            guard let area = userTaxAddress.administrativeArea else {
                throw .required("userTaxAddress.administrativeArea")
            }
            guard Self.indianStates.contains(area) else {
                throw .invalidValue("userTaxAddress.administrativeArea", "a state of India in capital letters.")
            }
        }
        try CatalogCheck.one(
            of: [oneTimeTransaction != nil, recurringTransaction != nil], "oneTimeTransaction",
            "it needs either oneTimeTransaction or recurringTransaction.")
        if let oneTimeTransaction, (oneTimeTransaction.externalTransactionToken ?? "").isEmpty {
            throw .required("oneTimeTransaction.externalTransactionToken")
        }
        if let recurringTransaction { try Self.check(recurringTransaction) }
        try checkDetails()
    }

    /// A first payment has the token of the app. Later ones name the first, and migrated ones the program.
    private static func check(_ recurring: Recurring) throws(PublisherError) {
        let field = "recurringTransaction"
        try CatalogCheck.one(
            of: [recurring.externalSubscription != nil, recurring.otherRecurringProduct != nil], field,
            "it needs either externalSubscription or otherRecurringProduct.")
        if let subscription = recurring.externalSubscription {
            guard subscriptionTypes.contains(subscription.subscriptionType ?? "") else {
                throw .invalidValue("\(field).externalSubscription.subscriptionType", "RECURRING or PREPAID.")
            }
        }
        if let program = recurring.migratedTransactionProgram {
            guard migratedPrograms.contains(program) else {
                throw .invalidValue(
                    "\(field).migratedTransactionProgram", migratedPrograms.joined(separator: " or ") + ".")
            }
        } else if recurring.initialExternalTransactionId == nil {
            guard !(recurring.externalTransactionToken ?? "").isEmpty else {
                throw .required("\(field).externalTransactionToken")
            }
        }
    }

    private func checkDetails() throws(PublisherError) {
        guard externalOfferDetails == nil || externalContentLinkDetails == nil else {
            throw .invalidValue(
                "externalOfferDetails", "it has either externalOfferDetails or externalContentLinkDetails.")
        }
        if let details = externalOfferDetails, let type = details.linkType {
            guard Self.linkTypes.contains(type) else {
                throw .invalidValue("externalOfferDetails.linkType", Self.linkTypes.joined(separator: " or ") + ".")
            }
        }
        // "Note: this field can not be used for external offers transactions" (`transactionProgramCode`).
        guard transactionProgramCode == nil || externalOfferDetails == nil else {
            throw .invalidValue("transactionProgramCode", "it cannot be used for external offers transactions.")
        }
        if let details = externalContentLinkDetails {
            guard Self.linkTypes.contains(details.linkType ?? "") else {
                throw .invalidValue(
                    "externalContentLinkDetails.linkType", Self.linkTypes.joined(separator: " or ") + ".")
            }
        }
        if let download { try checkDownload(download) }
    }

    /// "$0 transactions resulting from […] app installs" are reported with the token of the app
    /// (developer.android.com/google/play/billing/outside-gpb-backend).
    private func checkDownload(
        _ download: (details: String, app: String?, categoryField: String, category: String?)
    ) throws(PublisherError) {
        guard download.app != nil else { throw .required("\(download.details).installedAppPackage") }
        guard download.category != nil else { throw .required("\(download.details).\(download.categoryField)") }
        guard oneTimeTransaction != nil else {
            throw .invalidValue("recurringTransaction", "the download of an app is a one-time transaction.")
        }
        for (field, amount) in [
            ("originalPreTaxAmount", originalPreTaxAmount), ("originalTaxAmount", originalTaxAmount),
        ] where amount?.priceMicros?.value != 0 {
            throw .invalidValue(field, "the download of an app is a transaction of 0.")
        }
    }
}

extension ExternalTransaction.Amount? {
    /// The amount in millionths of a unit.
    ///
    /// - Throws: `PublisherError`, `required` or `invalidValue`.
    fileprivate func checked(_ field: String) throws(PublisherError) -> Int64 {
        guard let self, let micros = self.priceMicros?.value else { throw .required(field) }
        guard self.currency?.wholeMatch(of: /[A-Z]{3}/) != nil, (0...Money.maximumUnits * 1_000_000).contains(micros)
        else {
            throw .invalidValue(
                field, "an amount of at most \(Money.maximumUnits) units of a currency of ISO 4217.")
        }
        return micros
    }
}

/// The methods of the API on external transactions.
extension PlayBooks {
    private static let maximumIdentifierLength = 63

    /// `externaltransactions.createexternaltransaction`.
    func report(_ report: ExternalTransaction, identifier: String?, of packageName: String) throws
        -> ExternalTransaction
    {
        guard let identifier else { throw PublisherError.required("externalTransactionId") }
        guard identifier.utf8.count <= Self.maximumIdentifierLength, identifier.wholeMatch(of: /[a-zA-Z0-9_-]+/) != nil
        else {
            throw PublisherError.invalidValue(
                "externalTransactionId",
                "1 to \(Self.maximumIdentifierLength) letters, digits, underscores and hyphens.")
        }
        guard try externalTransaction(identifier, of: packageName) == nil else {
            throw PublisherError.alreadyExists("The external transaction \(identifier)")
        }
        if let first = report.recurringTransaction?.initialExternalTransactionId {
            guard try externalTransaction(first, of: packageName) != nil else {
                throw PublisherError.invalidValue(
                    "recurringTransaction.initialExternalTransactionId", "it is of no transaction.")
            }
        }
        try report.check(at: now)
        let reported = try ReportedTransaction(
            report, identifier: identifier, of: packageName, in: program(of: report, of: packageName), at: now)
        try checkDownload(of: report, in: packageName)
        try keep(reported, identifier, of: packageName)
        return reported.answer
    }

    /// `externaltransactions.getexternaltransaction`.
    package func reported(_ identifier: String, of packageName: String) throws -> ExternalTransaction {
        try foundTransaction(identifier, of: packageName).answer
    }

    /// `externaltransactions.refundexternaltransaction`.
    func refund(_ identifier: String, _ request: ExternalRefund, of packageName: String) throws -> ExternalTransaction {
        var reported = try foundTransaction(identifier, of: packageName)
        try reported.refund(request, at: now)
        try keep(reported, identifier, of: packageName)
        return reported.answer
    }

    private func foundTransaction(_ identifier: String, of packageName: String) throws -> ReportedTransaction {
        guard let found = try externalTransaction(identifier, of: packageName) else {
            throw PublisherError.notFound("The external transaction \(identifier.prefix(64))")
        }
        return found
    }

    func externalTransaction(_ identifier: String, of packageName: String) throws -> ReportedTransaction? {
        try database.record(
            """
            SELECT record FROM external_transaction WHERE package_name = \(packageName) AND identifier = \(identifier)
            """)
    }

    private func keep(_ reported: ReportedTransaction, _ identifier: String, of packageName: String) throws {
        try database.insert(
            ["package_name": packageName, "identifier": identifier, "record": try LocalRecord.text(reported)],
            into: "external_transaction", replacing: "package_name, identifier")
    }
}
