/// The names of the demonstration's customers.
enum DemoNames {
    private static let names = [
        "ada", "bora", "chanho", "dahee", "eunji", "finn", "gaeul", "haneul", "inho", "jiwoo", "kira", "leo", "mina",
        "noah", "olga", "paul", "quinn", "rosa", "seojun", "taeyang", "uma", "victor", "wonbin", "xenia", "yuna",
        "zoe", "areum", "byeol", "dooly", "emma", "hana", "jun", "liam", "maya", "nari", "sora", "tom", "woojin",
    ]

    /// The name of a customer by number, such as `mina` and later `mina2`.
    static func name(_ number: Int) -> String {
        let (round, index) = (number / names.count, number % names.count)
        return names[index] + (round == 0 ? "" : String(round + 1))
    }
}
