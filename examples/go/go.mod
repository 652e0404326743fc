module flyball.example/embed

go 1.19
