import AppStore
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Vocabulary

/// The network between the devices, the App Store and the service.
extension Simulation {
    /// Sends a device's proof. It may be lost, its answer may be lost, and it may arrive twice.
    func send(_ proof: Proof, of app: SimulatedApp, for user: User) async throws -> Redemption {
        let post = Post(proof: Array(proof.text.utf8), app: app, user: user)
        posts.append(post)
        if !isMended, dice.happens(10) { throw NoAnswer() }
        if !isMended, dice.happens(10) { _ = try? await redeem(post) }
        let redemption = try await redeem(post)
        if !isMended, dice.happens(10) { throw NoAnswer() }
        return redemption
    }

    func redeem(_ post: Post) async throws -> Redemption {
        present(post)
        let service = processes[dice.number(below: processes.count)].service
        if dice.happens(30), let redemption = try await redeemAtDoor(post, service) { return redemption }
        do {
            let redemption = try await service.redeem(post.proof, for: post.user)
            acknowledge(redemption, of: post)
            return redemption
        } catch is StorageFault {
            // The service answers 5xx if it has stored nothing. A device treats this as no answer.
            throw NoAnswer()
        } catch let error as RedemptionError {
            answers.append("\(post.user) was refused: \(error.code)")
            throw ServiceRefusal(
                try JSONDecoder().decode(ProblemResource.self, from: Data(try Problem(error.rule).json())))
        }
    }

    func present(_ post: Post) {
        for purchase in purchases(in: post) {
            presenters[post.app.key(purchase.originalTransactionIdentifier), default: []].insert(post.user)
        }
    }

    /// The purchases in a proof, whatever a process says of its date.
    func purchases(in post: Post) -> [ProvenPurchase] {
        (try? verifier.verify(post.proof, expecting: ProofExpectations()))?.purchases ?? []
    }

    func deliver(_ payload: String) async {
        for _ in 0..<(dice.happens(20) ? 2 : 1) {
            let outcome = try? await processes[dice.number(below: processes.count)].service.receive(
                notification: Array(payload.utf8))
            answers.append("a notification was received: \(outcome.map { "\($0)" } ?? "no answer")")
        }
    }

    /// Delivers notifications and repeated posts that share a commit.
    func arriveTogether() async throws {
        let service = processes[dice.number(below: processes.count)].service
        let notifications = dice.shuffle(try notifications()).prefix(3).compactMap {
            try? service.notification(in: Array($0.utf8)).request
        }
        let door = RedemptionDoor(service)
        var redemptions: [(post: Post, proof: PresentedProof, request: ClaimRequest)] = []
        for post in (0..<3).compactMap({ _ in dice.pick(posts) }) {
            present(post)
            guard
                let presented = try? await door.present(RedemptionRequest(post.proof, for: post.user, by: .user)),
                let claims = try? door.claims(of: presented, for: post.user)
            else { continue }
            redemptions.append((post, presented, .redeem(claims)))
        }
        let requests = notifications + redemptions.map(\.request)
        guard !requests.isEmpty else { return }
        let groups = dice.happens(50) ? [requests] : requests.map { [$0] }
        let batches = groups.map(service.claims.part(of:))
        var errors = service.ledger.storage.commit(batches.map(\.part))[...]
        let answers = batches.flatMap { part, results in
            defer { errors = errors.dropFirst(part.count) }
            return results(Array(errors.prefix(part.count)))
        }
        for (answer, redeemed) in zip(answers.dropFirst(notifications.count), redemptions) {
            guard let answer = try? answer.get(),
                let redemption = try? door.answer(answer, to: redeemed.proof).decision.redemption
            else { continue }
            acknowledge(redemption, of: redeemed.post)
        }
    }

    func acknowledge(_ redemption: Redemption, of post: Post) {
        let results = redemption.transactions.map { "\($0.transactionId) \($0.result)" }
        answers.append("\(post.user) redeemed: \(redemption.outcome) \(results)")
        for line in redemption.transactions where line.mayFinish {
            acknowledged[post.app.key(line.transactionId)] = post.user
        }
    }

    /// Sets the account tokens that the team generated.
    func tellTokens() async throws {
        for person in people {
            guard try await insist({ try await $0.setAppAccountToken(person.token, of: person.user) }) == .set else {
                throw SimulationError.broken("\(person.user) has another account token")
            }
        }
    }
}
