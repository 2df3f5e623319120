import Proofs

extension SubscriptionPeriod {
    /// The length of a number of periods, such as "3 months".
    func words(times count: Int = 1) -> Phrase {
        let number = value * count
        let plural = number == 1 ? "" : "s"
        return switch unit {
        case .day: Phrase("\(number) day\(plural)", "\(number)일")
        case .week: Phrase("\(number) week\(plural)", "\(number)주")
        case .month: Phrase("\(number) month\(plural)", "\(number)개월")
        case .year: Phrase("\(number) year\(plural)", "\(number)년")
        }
    }
}
