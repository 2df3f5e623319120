extension PriceIncreaseRequest: SandboxRequest {
    static let fields = ["price", "needsConsent"]
}
