import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Proofs

struct StoreKeysCommand: Command {
    static let configuration = CommandConfiguration(
        "keys", "Make a key for the App Store Server API, as App Store Connect does.",
        """
        Prints the identifiers of the key and of its issuer. Writes the private key as PKCS#8 to AuthKey_KEYID.p8 in the data \
        directory, or to the file of --out. The store does not keep the private key.
        """,
        examples: """
            till store keys
            till store keys --out AuthKey.p8
            """)

    @Option(help: .out)
    var out: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.prepare()
        let store = try data.store()
        func file(_ key: TeamKey) -> URL {
            out.map { URL(filePath: $0) }
                ?? data.folder.file("AuthKey_\(key.keyIdentifier).p8")
        }
        let key = try store.makeTeamKey { key, privateKey in
            try Self.write(Array(privateKey.utf8), to: file(key), called: "The private key")
        }
        terminal.line("Key ID      \(key.keyIdentifier)")
        terminal.line("Issuer ID   \(key.issuerIdentifier)")
        terminal.line("Bundle ID   \(store.bundleIdentifier)")
        terminal.line("Private key \(file(key).path)")
        try terminal.json([
            "keyId": key.keyIdentifier, "issuerId": key.issuerIdentifier, "bundleId": store.bundleIdentifier,
            "privateKey": file(key).path,
        ])
    }
}

struct StoreRefund: Command {
    enum Step: String, CaseIterable, ExpressibleByArgument {
        case grant
        case request
        case decline
        case reverse
    }

    static let configuration = CommandConfiguration(
        "refund", "Refund a sale, or play another step: a request, a decline or a reversal.",
        examples: """
            till store refund 2000000123456789
            till store refund 2000000123456789 --step request
            till store refund 2000000123456789 --seats 2
            till store refund 2000000123456789 --prorated
            till store refund 2000000123456789 --percentage 40
            till store refund 2000000123456789 --step reverse
            """)

    @Argument(help: .value("transaction", "The transaction's identifier."))
    var transactionIdentifier: String

    @Option(help: "grant, request, decline or reverse.")
    var step = Step.grant

    @Option(help: "The number of refunded seats of a subscription; all without it.")
    var seats: Int?

    @Flag(help: "Refund only the time that is left, or what your server has not told as consumed.")
    var prorated = false

    @Option(help: "The percentage of the price to refund, with at most three decimals.")
    var percentage: String?

    @OptionGroup var common: CommonOptions

    /// In thousandths of a percent; nil for a text that is no such percentage.
    private var refundedPercentage: Int? {
        percentage.flatMap { Price(majorUnits: $0, currency: "") }.map { Int($0.milliunits) }
            .flatMap { (1...Transaction.Revocation.whole).contains($0) ? $0 : nil }
    }

    func validate() throws {
        let isPart = prorated || percentage != nil
        try require(
            seats == nil && !isPart || step == .grant,
            "Only a granted refund is for a part. Leave --seats, --prorated and --percentage out.")
        try require(
            seats == nil || !isPart,
            "A refund of seats is of their whole price. Leave --seats out, or --prorated and --percentage.")
        try require(
            percentage == nil || refundedPercentage != nil,
            "--percentage must be a number above 0 and up to 100, such as 66.66.")
    }

    func perform() async throws {
        let store = try common.existingStore
        let (action, done): (TransactionAction, String) =
            switch step {
            case .grant: (.refund, "refunded")
            case .request: (.requestRefund, "refund asked for")
            case .decline: (.declineRefund, "refund declined")
            case .reverse: (.reverseRefund, "refund reversed")
            }
        var values = TransactionAction.Parameters()
        values.refundedSeats = seats
        (values.isRefundProrated, values.refundedPercentage) = (prorated, refundedPercentage)
        try store.perform(action, values, on: transactionIdentifier)
        terminal.line("\(transactionIdentifier)  \(done)")
        try terminal.json(JSONContent(answer: store.read { try $0.sale(transactionIdentifier) }.json()))
    }
}

struct StoreDelete: Command {
    static let configuration = CommandConfiguration(
        "delete", "Delete a transaction, or the whole subscription.",
        "Nobody is notified, and services keep what they have granted.",
        examples: "till store delete 2000000123456789")

    @Argument(help: .value("transaction", "The transaction's identifier."))
    var transactionIdentifier: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try common.existingStore.perform(.delete, TransactionAction.Parameters(), on: transactionIdentifier)
        try terminal.result("\(transactionIdentifier)  deleted", ["deleted": transactionIdentifier])
    }
}

struct StoreJudge: Command {
    static let configuration = CommandConfiguration(
        "judge", "Judge a request that your server has signed for StoreKit.",
        """
        The request is a JWS for a promotional offer, the eligibility for an introductory offer, or the Advanced Commerce API in \
        an app. The store checks it with the keys of `till store keys`. The status is 1 if StoreKit would not accept it.
        """,
        examples: """
            till store judge "$SIGNED_REQUEST"
            till store judge "$SIGNED_REQUEST" --json
            """)

    @Argument(help: .value("jws", "The JWS in compact form."))
    var signedRequest: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let verdict = try common.existingStore.read { try $0.verdict(onSignedRequest: signedRequest) }
        if verdict.isAccepted { terminal.line("StoreKit would accept it: \(verdict.audience ?? "").") }
        try terminal.json(verdict)
        if let refusal = verdict.refusal { try terminal.end("StoreKit would not accept it. \(refusal)") }
    }
}
