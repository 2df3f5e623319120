import Foundation
import Proofs

func products(in proof: String, trusting roots: URL, from origin: Origin = .appleProduction) throws -> [String] {
    let verifier = ProofVerifier(anchors: try TrustAnchors(folders: [roots]), clock: SystemClock())
    let expectations = ProofExpectations(bundleIdentifier: "com.example.garden", origins: [origin])
    let verified = try verifier.verify(Array(proof.utf8), expecting: expectations)
    return verified.purchases?.filter { $0.revocationDate == nil }.map(\.productIdentifier) ?? []
}
