import Foundation
import GRDB
import HTTPSupport
import Proofs
import Vocabulary

/// A local Google Play. It sells one-time products of one or several apps, keeps customers' purchases in its own database, signs them
/// with the key of their app, and answers Google's own client as the Play Developer API does. It grants nothing.
package final class GooglePlay: Sendable {
    /// Hands the licensing key of an app to the services that trust the Play.
    package typealias Trust = @Sendable (_ packageName: String, _ licensingKey: PublicKey) throws -> Void

    /// The maximum length of an account's name, in bytes of UTF-8.
    package static let maximumAccountLength = LocalAccount.maximumLength
    /// The maximum length of an obfuscated account or profile identifier, in characters.
    package static let maximumObfuscatedLength = 64

    let keys: PlayKeys
    private let trust: Trust
    let machineClock: any WallClock
    let randomness: Randomness
    let queue: DatabaseQueue
    let readings = ClockReadings()
    /// The file of the database. Faults name it.
    private let path: String
    /// The Play whose service accounts a named one accepts; nil for the Play of a folder.
    private let main: GooglePlay?
    /// The name of a database in memory, as SQLite has it.
    private static let memory = ":memory:"

    /// Opens the Play in a folder. A new folder gets new keys, and sells nothing.
    ///
    /// - Parameters:
    ///   - clock: The machine's clock. The Play's own is this one plus an offset.
    ///   - newKey: Makes an RSA key.
    ///   - trust: Called with the licensing key of each app that is added.
    package init(
        folder: URL,
        clock: any WallClock,
        randomness: Randomness,
        newKey: @escaping @Sendable () throws -> PrivateKey = PrivateKey.generateRSA,
        trust: @escaping Trust = { _, _ in }
    ) throws(PlayError) {
        machineClock = clock
        self.trust = trust
        self.randomness = randomness
        keys = PlayKeys(folder: folder.appending(path: "keys", directoryHint: .isDirectory), newKey: newKey)
        let file = folder.appending(path: "play.sqlite", directoryHint: .notDirectory)
        path = file.path
        queue = try PlaySchema.open(file, label: "play", .normal)
        main = nil
    }

    /// A fresh Play in memory. It has the apps and the products that the other one has now, signs with the same keys, and accepts the same
    /// service accounts and access tokens, also those that are made later.
    init(besides main: GooglePlay) throws(PlayError) {
        (keys, machineClock, randomness, trust) = (main.keys, main.machineClock, main.randomness, { _, _ in })
        (path, self.main) = (Self.memory, main)
        queue = try PlaySchema.openInMemory(named: Self.memory)
        do {
            let (apps, resources) = try main.queue.read { database in
                (
                    try String.fetchAll(database, sql: "SELECT package_name FROM app"),
                    try Row.fetchAll(database, sql: "SELECT package_name, kind, path, record FROM catalog_resource")
                )
            }
            try queue.write { database in
                for app in apps { try database.insert(["package_name": app], into: "app") }
                for row in resources {
                    try database.insert(
                        [
                            "package_name": row["package_name"] as String, "kind": row["kind"] as String,
                            "path": row["path"] as String, "record": row["record"] as String,
                        ], into: "catalog_resource")
                }
            }
        } catch {
            throw PlayError(error, path: Self.memory)
        }
    }

    /// The Play that has the service accounts and the access tokens.
    var accounts: GooglePlay { main ?? self }
    /// True for a Play in memory, which ends with its last reference.
    var isNamed: Bool { main != nil }

    /// Runs a use case in one transaction, after all due events.
    ///
    /// - Throws: The error of the use case, or else the fault of the Play as `PlayError`.
    package func perform<Value>(_ body: (PlayBooks) throws -> Value) throws -> Value {
        do {
            return try queue.write { database in
                let books = try books(database)
                try books.catchUp()
                return try body(books)
            }
        } catch {
            guard error is DatabaseError || error is OpenSSLError else { throw error }
            throw PlayError(error, path: path)
        }
    }

    func books(_ database: Database) throws -> PlayBooks {
        let machineTime = machineClock.now()
        return PlayBooks(
            database: database, keys: keys, trust: trust, randomness: randomness, machineTime: machineTime,
            now: machineTime.adding(milliseconds: try Self.clockOffset(database)))
    }

    private static func clockOffset(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'clockOffset'") ?? 0
    }

    /// The time of the Play's clock, without due events.
    var now: Timestamp {
        let offset = readings.value(.offset, before: 0) { try queue.read(Self.clockOffset) }
        return machineClock.now().adding(milliseconds: offset)
    }
}

/// The Play's records at one moment, inside a transaction of its database.
package struct PlayBooks {
    let database: Database
    let keys: PlayKeys
    let trust: GooglePlay.Trust
    let randomness: Randomness
    /// The machine's time. Access tokens end by it, because clients date their requests by their own clocks.
    let machineTime: Timestamp
    /// The time of the Play's clock, or of the account of `of(_:)`.
    package internal(set) var now: Timestamp

    var purchases: PurchaseRecords<OneTimePurchase> { .init(database: database) }
    var subscriptions: PurchaseRecords<RecurringPurchase> { .init(database: database) }

    /// Performs all due events of purchases, subscriptions and refund reviews of the accounts of a clock, the oldest first.
    ///
    /// - Parameter account: The account with its own clock, whose books these are; nil for the Play's clock.
    /// - Returns: The changes of subscriptions that time brings about at both stores, the oldest first.
    func catchUp(of account: String?) throws -> [DueEvent] {
        var events: [DueEvent] = []
        while true {
            let purchase = try purchases.firstDue(at: now, of: account)
            let (subscription, review) = (
                try subscriptions.firstDue(at: now, of: account), try firstDueReview(of: account)
            )
            let moments = (purchase?.dueTime, subscription?.nextMoment, review?.dueTime)
            let first = [moments.0, moments.1, moments.2].compactMap(\.self).min()
            if var subscription, let moment = moments.1, moment == first {
                let former = subscription.state
                let effects = subscription.advance()
                try keep(&subscription, after: effects, at: moment)
                if let kind = DueEvent.Kind(effects, after: former), let order = subscription.periods.last?.orderId {
                    events.append(
                        DueEvent(
                            kind: kind, date: moment, account: subscription.account,
                            productIdentifier: subscription.terms.productId, transactionIdentifier: order))
                }
            } else if var purchase, let moment = moments.0, moment == first {
                if purchase.releaseTime == nil {
                    try refund(&purchase, .unacknowledged(purchase, at: moment))
                } else {
                    try release(purchase, at: moment)
                }
            } else if let review, first != nil {
                try decide(review)
            } else {
                return events
            }
        }
    }

    private static let addressName = "address"

    /// The address at which the Play listens, or has listened last; nil before its first start.
    package func address() throws -> URL? {
        try String.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [Self.addressName])
            .flatMap { URL(string: $0) }
    }

    /// Notes the address at which the Play listens now.
    package func setAddress(_ address: URL) throws {
        try database.insert(
            ["name": Self.addressName, "value": address.absoluteString], into: "setting", replacing: "name")
    }

    /// Clears the purchases, the external transactions, the faults and the clocks. The apps, their products, the keys and the service accounts stay.
    ///
    /// - Returns: The number of purchases.
    package func reset() throws -> Int {
        try database.execute(sql: "DELETE FROM voided_purchase")
        try database.execute(sql: "DELETE FROM notification")
        try database.execute(sql: "DELETE FROM external_transaction")
        try database.execute(sql: "DELETE FROM external_transaction_token")
        try database.execute(sql: "DELETE FROM refund_review")
        try database.execute(sql: "DELETE FROM purchase")
        let count = database.changesCount
        try database.execute(sql: "DELETE FROM subscription_purchase")
        let subscriptionCount = database.changesCount
        try database.execute(sql: "DELETE FROM setting WHERE name = 'clockOffset'")
        try clocks.clear()
        try clearFaults()
        return count + subscriptionCount
    }
}

/// An error of the local Google Play to its customers and its commands. `PublisherError` is what Google's API answers.
package enum PlayError: LocalStoreError, Equatable {
    case appNotFound(String)
    case productNotFound(String)
    case quantityOutOfRange(Int, maximum: Int)
    case purchaseNotFound(String)
    case notificationNotFound(Int64)
    /// The action is not possible in the present state. The sentence says why.
    case invalidAction(String)
    case accountInvalid(String)
    case accountUnknown(String)
    /// An identifier of the app for an account or a profile, which is too long or empty.
    case obfuscatedIdentifierInvalid
    case keysUnreadable(path: String)
    /// A key could not be made, written or used. The reason is from the system or OpenSSL.
    case signingFailed(String)
    case storage(StorageFault)

    package var rule: ErrorRule {
        switch self {
        case .appNotFound(let name):
            ErrorRule(
                "appUnknown", .notFound,
                "The local Play has no app \"\(name.prefix(100))\". Name it at the start: `till play --package com.example.app`.",
                korean: "로컬 Play에 이 앱이 없습니다.")
        case .productNotFound(let identifier):
            ErrorRule(
                "productNotFound", .notFound,
                "The local Play sells no product \"\(identifier.prefix(100))\" in this form. List the products with "
                    + "`till play products`.",
                korean: "이 식별자의 상품이 없습니다.")
        case .quantityOutOfRange(let quantity, let maximum):
            ErrorRule(
                "quantityOutOfRange", .unprocessable,
                "A purchase of this product is for 1 to \(maximum), not \(quantity). Only a purchase option with "
                    + "multiQuantityEnabled sells several.",
                korean: "한 번에 살 수 있는 개수가 아닙니다.")
        case .purchaseNotFound(let name):
            ErrorRule(
                "transactionNotFound", .notFound,
                "The local Play has no purchase \"\(name.prefix(100))\". List them with `till play purchases`.",
                korean: "이 식별자의 거래가 없습니다.")
        case .notificationNotFound(let number):
            ErrorRule(
                "notificationNotFound", .notFound,
                "The local Play has no notification \(number). List them with `till play notifications`.",
                korean: "이 식별자의 알림이 없습니다.")
        case .invalidAction(let reason):
            ErrorRule("invalidAction", .conflict, hasReason: true, reason, korean: "지금 상태에서는 할 수 없는 작업입니다.")
        case .accountInvalid(let account): LocalAccount.rule(ofInvalid: account)
        case .accountUnknown(let account): LocalAccount.rule(ofUnknown: account, buyingWith: "till play")
        case .obfuscatedIdentifierInvalid:
            ErrorRule(
                "accountInvalid", .unprocessable,
                "An obfuscated account or profile identifier has 1 to \(GooglePlay.maximumObfuscatedLength) characters.",
                korean: "난독화된 식별자는 1~\(GooglePlay.maximumObfuscatedLength)자로 입력하세요.")
        case .keysUnreadable(let path):
            ErrorRule(
                "keysUnreadable", .failed, hasReason: true,
                "The key \(path) of the local Play is damaged. Restore it, or remove it to make a new one.",
                korean: "로컬 Play의 서명 키가 손상되었습니다.")
        case .signingFailed(let reason):
            ErrorRule(
                "signingFailed", .failed, hasReason: true, "The local Play could not sign: \(reason)",
                korean: "로컬 Play가 서명하지 못했습니다.")
        case .storage(let fault): fault.rule
        }
    }
}
