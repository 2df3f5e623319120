import Features
import Proofs

/// The page of a proof in the ledger.
struct KeptProofPage {
    let user: User
    let digest: [UInt8]
    let stored: StoredProof
    /// Nil if the stored bytes are damaged.
    let inspected: InspectedProof?

    var page: Page {
        Page(Phrase("Kept proof", "보관된 증명"), section: .customers) {
            CustomerCrumb(user: user).html
            section(.class("card")) {
                Facts.list([
                    (Phrase("SHA-256 of the signed bytes", "서명된 바이트의 SHA-256"), Shown.identifier(digest.hexadecimal))
                ])
                if inspected?.inspection.digest != digest {
                    p(.class("problem"), .role("alert")) {
                        Phrase(
                            "The ledger's copy is damaged: it is not what was signed. Restore the ledger from a backup.",
                            "원장의 사본이 손상되어 서명된 내용과 다릅니다. 백업에서 원장을 복원하세요.")
                    }
                }
            }
            if let inspected { ProofView(inspected).html }
        }
    }
}
