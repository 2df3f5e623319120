import Catalog
import Foundation
import GRDB
import Proofs

/// The store's database inside one transaction, at one moment of the store's clock. Use cases read and write it.
struct Books {
    let database: Database
    let bundleIdentifier: String
    let configuration: StoreKitConfiguration
    let issuer: ProofIssuer
    let randomness: Randomness
    let settings: StoreSettings
    /// The time of the store's clock.
    let now: Timestamp

    var payments: PaymentRecords { PaymentRecords(database: database) }
    var transactions: TransactionRecords { TransactionRecords(database: database) }
    var subscriptions: SubscriptionRecords { SubscriptionRecords(database: database) }
    var notifications: NotificationRecords { NotificationRecords(database: database) }
    var messaging: MessagingRecords { MessagingRecords(database: database) }

    var storefront: Storefront { Storefront(countryCode: settings.storefront) ?? configuration.storefront }

    var terms: SubscriptionTerms {
        let configuration = configuration
        return SubscriptionTerms(
            product: { configuration.product($0) }, timeRate: settings.timeRate,
            currency: storefront.currency, isBillingFailing: settings.shouldEnterBillingRetryOnRenewal,
            isGracePeriodEnabled: settings.isBillingGracePeriodEnabled)
    }

    /// The same books at an earlier moment, when an event became due.
    func at(_ moment: Timestamp) -> Books {
        Books(
            database: database, bundleIdentifier: bundleIdentifier, configuration: configuration, issuer: issuer,
            randomness: randomness, settings: settings, now: moment)
    }

    /// Advances the clock, without performing due events.
    func advance(by milliseconds: Int64) throws {
        let state = StateRecords(database: database)
        try state.setOffset(try state.offset() + milliseconds)
    }

    /// Advances the clock to the next moment at which an event or a notification is due, and performs the events.
    ///
    /// - Parameter rest: The longest way, in milliseconds.
    /// - Returns: The rest of the way.
    func advanceToNextMoment(atMost rest: Int64) throws -> Int64 {
        _ = try catchUp()
        let next = [try subscriptions.nextDueDate(), try notifications.nextAttemptDate(after: now)].compactMap(\.self)
            .min()
        let way = min(rest, next.map { max(0, $0.millisecondsSince1970 - now.millisecondsSince1970) } ?? rest)
        try advance(by: way)
        _ = try at(Timestamp(millisecondsSince1970: now.millisecondsSince1970 + way)).catchUp()
        return rest - way
    }

    /// Performs the due events in order, each at its own moment.
    ///
    /// - Parameter limit: The maximum number of events.
    /// - Returns: True if no due event is left.
    func catchUp(limit: Int = .max) throws -> Bool {
        var count = 0
        while let subscription = try subscriptions.firstDue(until: now), let dueDate = subscription.dueDate {
            var changed = subscription
            let effects = changed.becomeDue(terms)
            guard count < limit else { return false }
            count += 1
            try at(dueDate).record(changed, effects)
        }
        return true
    }
}
