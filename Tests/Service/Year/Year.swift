import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Logging
import Proofs
import TestSupport
import Testing

/// The year 2027, day by day: the store lets happen what is due, its notifications go to a service on a socket, and the
/// customers, the App Store and the team do what `YearScript` or a recorded year says.
actor Year {
    /// The way in which notifications and purchases reach the service.
    enum Delivery: Sendable {
        /// At once.
        case prompt
        /// Late, twice, in another order, or at the end of the year, as the dice of a seed fall.
        ///
        /// - Parameter faults: The number of faults; fewer than the notifications, because one that shall come after the next would
        ///   wait for ever if it were the last.
        case disturbed(seed: UInt64, faults: Int = 80)
    }

    private static let days = 365
    private static let milliseconds: Int64 = 86_400_000

    let fixture: YearFixture
    /// On a connection to the service.
    let client: TestClient
    let dice: Dice?
    private let faults: Int
    /// The events of the year, by their days.
    private let events: [String: [YearEvent]]
    /// The team's back end in a recorded year; nil in the year of `YearScript`.
    let backEnd: YearBackEnd?
    /// The journal of a recorded year; nil where nobody reads it.
    var journal: YearJournal?
    /// The claims of seats, and the customers whose seats they are.
    var claims: [(claim: String, customer: String)] = []
    var store: Store
    /// The purchases that apps have yet to present, with the days on which they do.
    var unpresented: [(day: Int, identifier: Int64, customer: String)] = []
    /// Names for what is read.
    var names = YearNames()
    private(set) var day = 0
    /// The states of the last days of the months.
    var monthly = YearRecord()

    /// Plays the year.
    static func play(_ delivery: Delivery) async throws -> YearRecord {
        let fixture = try await YearFixture()
        return try await Application(router: fixture.routes.router()).test(.live) { client in
            try await Year(fixture, client, delivery).play()
        }
    }

    init(
        _ fixture: YearFixture,
        _ client: TestClient,
        _ delivery: Delivery = .prompt,
        events: [String: [YearEvent]] = YearScript.events,
        backEnd: YearBackEnd? = nil,
        journal: YearJournal? = nil
    ) {
        (self.fixture, self.client, store) = (fixture, client, fixture.store)
        (self.events, self.backEnd, self.journal) = (events, backEnd, journal)
        switch delivery {
        case .prompt: (dice, faults) = (nil, 0)
        case .disturbed(let seed, let faults): (dice, self.faults) = (Dice(seed: seed), faults)
        }
    }

    private func play() async throws -> YearRecord {
        try await live()
        try await catchUpDelivery()
        return try await record()
    }

    /// Lets the days pass. At noon of the last one, only what is due happens.
    func live() async throws {
        let port = try #require(client.port)
        _ = try store.update {
            $0.notificationsURL = URL(string: "http://127.0.0.1:\(port)/v1/notifications/apple")
        }
        if let dice { try store.add((0..<faults).map { _ in Self.fault(by: dice) }) }
        while day <= Self.days {
            try store.catchUp()
            try await deliver()
            try await tell()
            for event in day < Self.days ? events[date] ?? [] : [] {
                try await perform(event)
                try await tell()
            }
            try await presentWhatIsDue()
            try await deliver()
            try await fixture.service.recordDueStates()
            if now.adding(days: 1).dayOfMonth == 1 {
                if backEnd == nil {
                    monthly.months.append(try await month())
                    try await recordCauses()
                }
                try await fixture.figures.rollUp()
            }
            day += 1
            if day <= Self.days { fixture.clock.advance(milliseconds: Self.milliseconds) }
        }
    }

    private static func fault(by dice: Dice) -> NotificationFault {
        switch dice.number(below: 5) {
        case 0: .duplicate
        case 1: .reorder
        case 2: .drop
        default: .delay(seconds: Int64(dice.number(below: 40)) * 43_200)
        }
    }

    /// Sends what is due over the network, as the store does.
    func deliver() async throws {
        try await store.sendDueNotifications(logger: ServiceFixture.logger)
    }

    /// Sends again what was lost or is late, and sums up.
    func catchUpDelivery() async throws {
        for notification in try store.notifications()
        where !notification.sendAttempts.contains(where: { $0.result == .success }) {
            try store.replay(notification.notificationUUID)
        }
        try await deliver()
        try await fixture.service.recordDueStates()
        try await fixture.figures.sweep()
        try await fixture.figures.rollUp()
    }

    var now: Timestamp { fixture.clock.now() }

    /// The day and the month: `01-31`.
    var date: String { String(now.rfc3339.dropFirst(5).prefix(5)) }
}
