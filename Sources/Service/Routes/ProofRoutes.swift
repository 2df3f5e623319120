import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The route that verifies a proof without redeeming it. An invalid proof is refused with the code of its reason.
struct ProofRoutes: Sendable {
    let service: EntitlementService

    func add(to group: RouterGroup<ServiceContext>) {
        group.post("proofs/verify") { request, context in
            let body = try await JSONBody(
                request, context, fields: ["proof"], upTo: JSONBody.sizeWithProof)
            let (proof, service) = (try body.proof("proof"), service.limited(to: context))
            return try JSONAnswer.response(
                try await BlockingWork.process(proof.count) { ProofResource(try service.verify(proof)) })
        }
    }
}
