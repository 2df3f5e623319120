import AppStore
import ArgumentParser
import Catalog
import HTTPSupport
import PlayStore
import Proofs

/// The store at which the device simulation buys.
enum StoreChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case appStore = "app_store"
    case play = "play_store"

    static let optionHelp = ArgumentHelp.store("the local one of the device")

    /// The former names are accepted, too.
    init?(argument: String) {
        self.init(rawValue: ["appStore": "app_store", "play": "play_store"][argument] ?? argument)
    }
}

/// The proof that the app sends to the service.
enum ProofChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case receipt
    case transaction
    case purchase
    case token

    /// The store whose purchases it proves.
    var store: StoreChoice {
        switch self {
        case .receipt, .transaction: .appStore
        case .purchase, .token: .play
        }
    }
}

/// A device's connection to a local store in the same process, with the words of its payments.
protocol DeviceQueue: StoreConnection {
    /// The effect of a payment by its number, in words; nil for one that sold nothing.
    func effect(of number: Int64) -> String?

    /// The queue of another device of the account, which delivers all that the account owns.
    func restoring() throws -> any DeviceQueue

    /// True for a failed payment that can be completed.
    func isInterrupted(_ number: Int64) throws -> Bool

    /// The reason for which a deferred payment waits, and the arguments of the commands that end it.
    func waiting(_ transaction: PaymentTransaction) -> (reason: String, endings: [[String]])
}

extension DeviceQueue {
    /// The reason for which a deferred payment waits, and the commands that end it.
    ///
    /// - Parameter count: The largest number of commands.
    func waitingWords(_ transaction: PaymentTransaction, upTo count: Int = 2, common: CommonOptions) -> String {
        let (reason, endings) = waiting(transaction)
        return "waits for \(reason): " + endings.prefix(count).map { common.hint($0) }.joined(separator: ", or ")
    }
}

/// The payment queue of one account at the local App Store.
struct AppStoreQueue: DeviceQueue {
    let store: Store
    let account: String
    var outcome = PaymentOutcome.purchased
    var proof = ProofChoice.receipt

    func add(_ payment: Payment) async throws -> PaymentTransaction {
        try store.add(payment, account: account, outcome: outcome)
    }

    func processPayments() async throws {
        _ = try store.process(account: account)
    }

    func transaction(_ identifier: Int64) async throws -> PaymentTransaction {
        try store.read { try $0.queued(identifier, account: account).transaction }
    }

    func unfinishedTransactions() async throws -> [PaymentTransaction] {
        try store.read { try $0.payments.transactions(account: account) }.map(\.transaction).filter {
            $0.state != .finished
        }
    }

    func proof(of transaction: PaymentTransaction) async throws -> Proof {
        guard proof == .transaction else { return .receipt(try store.read { try $0.receipt(account: account) }) }
        return .signedTransaction(try store.read { try $0.signedTransaction(transaction.identifier) })
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        _ = try store.perform(.finish, on: transaction.identifier, account: account)
    }

    func effect(of number: Int64) -> String? { try? store.read { try $0.effect(of: number)?.words } }

    func restoring() throws -> any DeviceQueue {
        try store.write { try $0.restoreCompletedTransactions(account: account) }
        return self
    }

    func isInterrupted(_ number: Int64) throws -> Bool { try store.read { try $0.queued(number).isInterrupted } }

    func waiting(_ transaction: PaymentTransaction) -> (reason: String, endings: [[String]]) {
        ("approval", ["approve", "decline"].map { ["store", $0, String(transaction.identifier)] })
    }
}

/// The purchases of one account at the local Google Play.
struct PlayQueue: DeviceQueue {
    let play: GooglePlay
    let packageName: String
    private var device: PlayDevice
    /// True if this device's payments are made later.
    private let isPending: Bool
    private let proof: ProofChoice

    init(_ play: GooglePlay, _ catalog: Catalog, account: String, isPending: Bool, proof: ProofChoice) {
        self.play = play
        packageName = PackageName.name(ofApp: catalog.bundleIdentifier)
        (self.isPending, self.proof) = (isPending, proof)
        let consumables = catalog.products.filter { $0.type == .consumable }.map(\.productIdentifier)
        device = PlayDevice(account: account, consumables: Set(consumables))
    }

    func add(_ payment: Payment) async throws -> PaymentTransaction {
        let number = try play.perform { try device.buy(payment, isPending: isPending, of: packageName, at: $0) }
        return PaymentTransaction(identifier: number, payment: payment, state: .purchasing, error: nil, purchase: nil)
    }

    /// Nothing: Google Play makes a payment before it tells the app of it.
    func processPayments() async throws {}

    func transaction(_ identifier: Int64) async throws -> PaymentTransaction {
        try play.perform { try device.transaction(identifier, at: $0) }
    }

    func unfinishedTransactions() async throws -> [PaymentTransaction] {
        try play.perform { try device.transactions(at: $0) }.filter { $0.state != .finished }
    }

    func proof(of transaction: PaymentTransaction) async throws -> Proof {
        if proof == .token {
            let token = try play.perform { try device.purchaseToken(transaction.identifier, at: $0) }
            return .purchaseToken(
                try GooglePlayToken(
                    purchaseToken: token, packageName: packageName, productId: transaction.payment.productIdentifier))
        }
        let purchase = try play.perform { try device.signedPurchase(transaction.identifier, at: $0) }
        return .googlePlay(
            purchase: String(decoding: purchase.data, as: UTF8.self),
            signature: String(decoding: purchase.signature, as: UTF8.self))
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        try play.perform { try device.finish(transaction.identifier, at: $0) }
    }

    func effect(of number: Int64) -> String? {
        guard let (price, isTrial) = try? play.perform({ try device.charge(number, at: $0) }) else { return nil }
        return isTrial ? "free trial" : price.formatted
    }

    func restoring() -> any DeviceQueue {
        var queue = self
        queue.device.isRestoring = true
        return queue
    }

    func isInterrupted(_ number: Int64) -> Bool { false }

    func waiting(_ transaction: PaymentTransaction) -> (reason: String, endings: [[String]]) {
        let (number, product) = (String(transaction.identifier), transaction.payment.productIdentifier)
        let sold = try? play.perform { try $0.subscriptionProduct(product, of: packageName) }
        return (
            "the payment",
            ["complete", "cancel"].map { sold != nil ? ["play", "subscription", number, $0] : ["play", $0, number] }
        )
    }
}
