import Wire

extension PriceIncreaseRequest: SandboxRequest {
    static let fields = ["price", "needsConsent"]
}
