/// The result of one check of an installation.
struct Finding: Encodable {
    enum Status: String, Encodable {
        case passed = "ok"
        /// A remark with an optional action, or none.
        case note
        case problem
    }

    /// The subject of the check: "TLS certificate".
    let check: String
    let status: Status
    let detail: String
    /// The next step; nil if none is needed.
    let remedy: String?

    static func passed(_ check: String, _ detail: String) -> Finding {
        Finding(check: check, status: .passed, detail: detail, remedy: nil)
    }

    static func note(_ check: String, _ detail: String, remedy: String? = nil) -> Finding {
        Finding(check: check, status: .note, detail: detail, remedy: remedy)
    }

    static func problem(_ check: String, _ detail: String, remedy: String? = nil) -> Finding {
        Finding(check: check, status: .problem, detail: detail, remedy: remedy)
    }
}
