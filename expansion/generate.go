package expansion

//go:generate go run ./_tables -out tables.go
