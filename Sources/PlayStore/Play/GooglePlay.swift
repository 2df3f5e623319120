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
    private let queue: DatabaseQueue
    /// The file of the database. Faults name it.
    private let path: String

    /// Opens the Play in a folder. A new folder gets new keys, and sells nothing.
    ///
    /// - Parameters:
    ///   - clock: The machine's clock. The Play's own is this one plus an offset.
    ///   - trust: Called with the licensing key of each app that is added.
    package init(
        folder: URL,
        clock: any WallClock,
        randomness: Randomness,
        trust: @escaping Trust = { _, _ in }
    ) throws(PlayError) {
        machineClock = clock
        self.trust = trust
        self.randomness = randomness
        keys = PlayKeys(folder: folder.appending(path: "keys", directoryHint: .isDirectory))
        let file = folder.appending(path: "play.sqlite", directoryHint: .notDirectory)
        path = file.path
        queue = try PlaySchema.open(file, label: "play", .normal)
    }

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

    private func books(_ database: Database) throws -> PlayBooks {
        let machineTime = machineClock.now()
        return PlayBooks(
            database: database, keys: keys, trust: trust, randomness: randomness, machineTime: machineTime,
            now: machineTime.adding(milliseconds: try Self.clockOffset(database)))
    }

    private static func clockOffset(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'clockOffset'") ?? 0
    }

    /// The time of the Play's clock, without due events. The next use case reports a read error.
    fileprivate var now: Timestamp {
        let machineTime = machineClock.now()
        return machineTime.adding(milliseconds: (try? queue.read(Self.clockOffset)) ?? 0)
    }
}

/// The Play's clock: the machine's clock plus an offset (`PlayBooks.advance`).
package struct PlayClock: WallClock {
    let play: GooglePlay

    package func now() -> Timestamp { play.now }
}

extension GooglePlay {
    package var clock: PlayClock { PlayClock(play: self) }
}

/// The Play's records at one moment, inside a transaction of its database.
package struct PlayBooks {
    let database: Database
    let keys: PlayKeys
    let trust: GooglePlay.Trust
    let randomness: Randomness
    /// The machine's time. Access tokens end by it, because clients date their requests by their own clocks.
    let machineTime: Timestamp
    /// The time of the Play's clock.
    package let now: Timestamp

    var purchases: PurchaseRecords<OneTimePurchase> { .init(database: database) }
    var subscriptions: PurchaseRecords<RecurringPurchase> { .init(database: database) }

    /// Performs all due events of purchases, subscriptions and refund reviews, the oldest first.
    func catchUp() throws {
        while true {
            let (purchase, subscription) = (try purchases.firstDue(at: now), try subscriptions.firstDue(at: now))
            let review = try firstDueReview()
            let moments = (purchase?.acknowledgementDeadline, subscription?.nextMoment, review?.dueTime)
            let first = [moments.0, moments.1, moments.2].compactMap(\.self).min()
            if var subscription, let moment = moments.1, moment == first {
                try keep(&subscription, after: subscription.advance(), at: moment)
            } else if var purchase, let deadline = moments.0, deadline == first {
                try refund(&purchase, .unacknowledged(purchase, at: deadline))
            } else if let review, first != nil {
                try decide(review)
            } else {
                return
            }
        }
    }

    /// Advances the clock. What becomes due then happens in the next use case.
    ///
    /// - Returns: The new time.
    /// - Throws: `PlayError`, `invalidAction`, for a step that is too long.
    package func advance(_ step: TimeStep) throws -> Timestamp {
        let seconds: Int64
        do { seconds = try step.length(from: now) } catch { throw PlayError.invalidAction(error.message) }
        let time = now.adding(seconds: seconds)
        let offset = time.millisecondsSince1970 - machineTime.millisecondsSince1970
        try database.insert(["name": "clockOffset", "value": offset], into: "setting", replacing: "name")
        return time
    }

    /// Clears the purchases, the external transactions, the faults and the clock. The apps, their products, the keys and the service accounts stay.
    ///
    /// - Returns: The number of purchases.
    package func reset() throws -> Int {
        try database.execute(sql: "DELETE FROM voided_purchase")
        try database.execute(sql: "DELETE FROM notification")
        try database.execute(sql: "DELETE FROM external_transaction")
        try database.execute(sql: "DELETE FROM refund_review")
        try database.execute(sql: "DELETE FROM purchase")
        let count = database.changesCount
        try database.execute(sql: "DELETE FROM subscription_purchase")
        let subscriptionCount = database.changesCount
        try database.execute(sql: "DELETE FROM setting WHERE name = 'clockOffset'")
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
