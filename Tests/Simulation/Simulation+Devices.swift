import AppStore
import Entitlements
import HTTPSupport
import Proofs
import TestSupport
import Vocabulary

/// The apps on the devices.
extension Simulation {
    func buy() async throws {
        let (person, app) = (somebody(), someApp())
        let user = signedIn(on: person)
        guard let product = dice.pick(Self.products) else { return }
        let payment = Payment(
            productIdentifier: product, quantity: product == "garden.seeds" ? 1 + dice.number(below: 3) : 1,
            appAccountToken: dice.happens(60) ? people.first { $0.user == user }?.token : nil)
        let outcome = dice.happens(80) ? PaymentOutcome.purchased : .deferred
        try await launch(person, in: app, as: user, outcome: outcome) { _ = try await $0.buy(payment) }
    }

    func signedIn(on person: Person) -> User {
        sharesDevices && dice.happens(20) ? somebody().user : person.user
    }

    /// Runs the app until it finishes or is killed.
    func launch(
        _ person: Person,
        in app: SimulatedApp,
        as user: User? = nil,
        outcome: PaymentOutcome = .purchased,
        crashes: Int? = nil,
        sendsReceipt: Bool? = nil,
        _ body: (PaymentQueueObserver) async throws -> Void
    ) async throws {
        let user = user ?? signedIn(on: person)
        let line = SimulatedStoreLine(
            store: app.store, account: person.account, outcome: outcome,
            sendsReceipt: sendsReceipt ?? dice.happens(50), dice: dice, crashes: crashes ?? 5)
        do {
            try await body(
                PaymentQueueObserver(store: line, service: SimulatedServiceLine(simulation: self, app: app, user: user))
            )
        } catch is Crash {
            story.append("\(user)'s \(app.bundleIdentifier) was killed")
        } catch is NoAnswer {
            story.append("\(user)'s \(app.bundleIdentifier) had no answer")
        }
    }

    /// Launches each app on each device, with each user who may be signed in there.
    func launchEverybody() async throws {
        for person in people {
            let users = sharesDevices ? people.map(\.user) : [person.user]
            for user in users {
                try advance(seconds: 2)
                for app in apps {
                    // A receipt has all unfinished transactions. A signed transaction has its account token.
                    for sendsReceipt in [false, true] {
                        try await launch(person, in: app, as: user, crashes: 0, sendsReceipt: sendsReceipt) {
                            try await $0.resume()
                        }
                    }
                }
            }
        }
    }
}
