import Features

extension ConfirmationResource {
    init(_ confirmation: Confirmation) {
        let outcome: Outcome =
            switch confirmation {
            case .verified: .verified
            case .changed: .changed
            case .waitsForOther: .waitsForOther
            }
        self.init(outcome: outcome)
    }
}
