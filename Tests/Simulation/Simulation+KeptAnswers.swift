import Entitlements
import Ledger
import Proofs
import Synchronization
import TestSupport

/// The answers that a process keeps in memory about what its users own.
final class SimulatedAnswers: Sendable {
    let items = UserAnswers<[OwnedItem]>(upTo: 1 << 20) { $0.count * 500 }
    let rights = UserAnswers<[UserRight]>(upTo: 1 << 20) { $0.count * 500 }
    /// The number of answers about items that were not kept.
    let made = Atomic(0)
}

extension Simulation {
    /// No process gives an answer that the ledger does not give, whichever process has written.
    func checkKeptAnswers() async throws {
        for (number, process) in processes.enumerated() where !process.isStopped {
            let (service, kept) = (process.service, process.answers)
            for person in people {
                let items = try await service.answer(aboutItemsOf: person.user, keptIn: kept.items) { items, _ in
                    kept.made.add(1, ordering: .relaxed)
                    return items
                }
                let rights = try await service.answer(aboutRightsOf: person.user, keptIn: kept.rights) { rights, _ in
                    rights
                }
                answersGiven += 1
                let (freshItems, freshRights) = (
                    try await service.items(of: person.user), try await service.rights(of: person.user)
                )
                guard items == freshItems, rights == freshRights else {
                    throw SimulationError.broken(
                        "process \(number) says that \(person.user) owns \(items) and \(rights), "
                            + "and the ledger \(freshItems) and \(freshRights)")
                }
            }
        }
    }
}
