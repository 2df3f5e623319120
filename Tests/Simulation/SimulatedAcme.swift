import Acme
import Entitlements
import Proofs
import TestSupport
import Vocabulary

/// acme, which sells the first app of a simulation as well.
///
/// It has dice of its own, so that its steps draw no numbers of the others'.
final class SimulatedAcme: Sendable {
    /// A contract, and the person who has it.
    struct Contract: Sendable {
        let name: String
        let user: User
    }

    static let origins = Set([AcmeStore.production].compactMap(\.self))

    /// The origins that a service accepts by default, and those of acme.
    static let accepted = AcceptedOrigins(Origin.defaultAccepted.union(origins))

    let app: SimulatedApp
    let dice: Dice
    let shop: AcmeShop

    init(of app: SimulatedApp, seed: UInt64) throws {
        (self.app, dice) = (app, Dice(seed: seed ^ 0xAC3E))
        shop = try AcmeShop(clock: app.store.clock)
    }

    /// acme as a process of the service asks it.
    private func store(of service: EntitlementService) -> AcmeStore {
        AcmeStore(service, trusting: shop.publicKey) { [shop] in try shop.answer(about: $0) }
    }

    func redeem(_ contract: Contract, at service: EntitlementService) async throws {
        let door = RedemptionDoor(service, stores: [store(of: service)])
        let ticket = Array(try shop.ticket(of: contract.name).utf8)
        _ = try await door.redeem(RedemptionRequest(ticket, for: contract.user, by: .user)).decision.outcome
    }

    func deliver(_ message: [UInt8], to service: EntitlementService) async throws -> [NotificationOutcome] {
        try await store(of: service).receive(message)
    }

    func ask(about contract: Contract, by service: EntitlementService) async throws -> [NotificationOutcome] {
        try await store(of: service).refresh(contract.name)
    }
}
