import Features

/// The page that decodes and verifies a pasted proof.
struct ProofsPage {
    static let textField = "proof"
    static let fileField = "file"

    let context: ConsoleContext
    /// The proof that was sent. Nil before one was.
    let proof: InspectedProof?

    var page: Page {
        Page(Phrase("Proof inspector", "증명 검사"), section: .proofs) {
            if let proof {
                ProofView(proof).html
                details(.class("action")) {
                    summary { Phrase("Inspect another proof", "다른 증명 검사") }
                    form
                }
            } else {
                section(.class("card")) { form }
            }
        }
    }

    private var form: HTML {
        context.form(to: ConsolePath("proofs"), HTMLAttribute("enctype", "multipart/form-data")) {
            p(.class("note")) {
                Phrase(
                    "Takes a signed transaction, renewal information, a notification, an app transaction or an app receipt, also "
                        + "a broken one. The service decodes and verifies it. It stores and logs nothing of it.",
                    "서명된 거래, 갱신 정보, 알림, 앱 거래, 앱 영수증을 받습니다. 깨진 것도 됩니다. 서비스는 이를 해독하고 검증하며, 아무것도 저장하거나 기록하지 않습니다."
                )
            }
            div(.class("field")) {
                label(.for(Self.textField)) {
                    Phrase("Proof: paste it, or drop a file here", "증명: 붙여 넣거나 파일을 여기로 끌어 놓으세요")
                }
                textarea(
                    .id(Self.textField), .name(Self.textField), HTMLAttribute("rows", "8"),
                    HTMLAttribute("spellcheck", "false"), HTMLAttribute("autocomplete", "off"),
                    HTMLAttribute("data-drop")
                ) {}
            }
            div(.class("field")) {
                label(.for(Self.fileField)) { Phrase("Or choose a file", "또는 파일 선택") }
                input(.type("file"), .id(Self.fileField), .name(Self.fileField))
            }
            button(.class("primary")) { Phrase("Inspect", "검사") }
        }
    }
}
